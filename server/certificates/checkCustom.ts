/** Checks a customer's own key and certificate before they are served. */
import { type KeyObject, X509Certificate } from "node:crypto";
import { orderChain } from "./chain.ts";
import { type CustomCertificateProblem, InvalidCustomCertificate } from "./customCertificateProblem.ts";
import { readKey } from "./customKey.ts";
import { covers, namesOf } from "./names.ts";
import { isCertificate, isKey, isTruncated, readBlocks } from "./pem.ts";

export interface ReadCertificate {
  /** Lower case, as A-labels; may be wildcards such as `*.example.com`. */
  readonly names: readonly string[];
  /** PEM, the leaf certificate first, without the root. */
  readonly chain: string;
  /** PEM, PKCS#8. */
  readonly key: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** SHA-256 of the leaf certificate, in hex. */
  readonly fingerprint: string;
}

/** Per text. A chain of ten certificates with long keys needs a third of it. */
export const maxPemBytes = 65_536;
const maxCertificates = 20;
const maxNamesShown = 5;

/**
 * Reads a key and a certificate with its chain, in any order, from PEM. The certificate must cover all of `names`
 * (lower case); a wildcard such as `*.example.com` is only covered by the same wildcard.
 */
export function readCustomCertificate(input: {
  readonly key: string;
  readonly cert: string;
  readonly names: readonly string[];
  readonly now: Date;
}):
  | { readonly ok: true; readonly certificate: ReadCertificate }
  | { readonly ok: false; readonly problem: CustomCertificateProblem } {
  try {
    refuseLong(input);
    const key = readKey(input.key);
    const chain = orderChain(readCertificates(input.cert), key);
    for (const certificate of chain) refuseByDate(certificate, certificate === chain[0], input.now);
    refuseByName(namesOf(chain[0]), input.names);
    return { ok: true, certificate: describe(chain, key) };
  } catch (error) {
    if (error instanceof InvalidCustomCertificate) return { ok: false, problem: error.problem };
    throw error;
  }
}

/** Describes a sorted chain. */
export function describe(chain: readonly [X509Certificate, ...X509Certificate[]], key: KeyObject): ReadCertificate {
  const [leaf] = chain;
  return {
    names: namesOf(leaf),
    chain: chain.map((certificate) => certificate.toString()).join(""),
    key: key.export({ type: "pkcs8", format: "pem" }).toString(),
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
    fingerprint: leaf.fingerprint256.replaceAll(":", "").toLowerCase(),
  };
}

function refuseLong({ key, cert }: { readonly key: string; readonly cert: string }): void {
  for (const [field, text] of [["custom_ssl_key", key] as const, ["custom_ssl_cert", cert] as const]) {
    if (Buffer.byteLength(text) > maxPemBytes)
      throw new InvalidCustomCertificate(field, `${field} is longer than ${maxPemBytes} bytes.`);
  }
}

/** Without duplicates. */
function readCertificates(text: string): X509Certificate[] {
  const blocks = readBlocks(text);
  if (blocks.some(isKey)) {
    throw refuse("custom_ssl_cert contains a private key. Send the key in custom_ssl_key, and only certificates here.");
  }
  if (isTruncated(text)) throw refuse("custom_ssl_cert is truncated. Send the whole text, up to the last END line.");
  const certificates = blocks.filter(isCertificate);
  if (certificates.length === 0) {
    throw refuse("custom_ssl_cert is not a PEM certificate, which starts with -----BEGIN CERTIFICATE-----.");
  }
  if (certificates.length > maxCertificates) {
    throw refuse(
      `custom_ssl_cert contains more than ${maxCertificates} certificates. Send only this certificate's chain.`,
    );
  }
  const read = certificates.map((block) => parse(block.text));
  return [...new Map(read.map((certificate) => [certificate.fingerprint256, certificate])).values()];
}

function parse(text: string): X509Certificate {
  try {
    return new X509Certificate(text.replaceAll("X509 CERTIFICATE", "CERTIFICATE"));
  } catch {
    throw refuse("custom_ssl_cert contains a certificate that can't be read. Copy the whole text again.");
  }
}

function refuseByDate(certificate: X509Certificate, isLeaf: boolean, now: Date): void {
  const which = isLeaf ? "custom_ssl_cert" : "custom_ssl_cert contains an intermediate certificate that";
  const { validFromDate, validToDate } = certificate;
  if (validToDate <= now)
    throw refuse(`${which} expired on ${dayOf(validToDate)}. Send a certificate that is valid now.`);
  if (validFromDate > now)
    throw refuse(`${which} is not valid before ${validFromDate.toISOString()}. Send it again then.`);
}

function refuseByName(covered: readonly string[], wanted: readonly string[]): void {
  const missing = wanted.find((name) => !covers(covered, name));
  if (missing === undefined) return;
  const shown = covered.slice(0, maxNamesShown).join(", ") || "no host name at all";
  const more = covered.length > maxNamesShown ? ` and ${covered.length - maxNamesShown} more` : "";
  throw refuse(`custom_ssl_cert is not for ${missing}, but for ${shown}${more}. Send a certificate for ${missing}.`);
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, "yyyy-mm-dd".length);
}

function refuse(reason: string): InvalidCustomCertificate {
  return new InvalidCustomCertificate("custom_ssl_cert", reason);
}
