/** Checks a customer's own key and certificate before they are served. */
import { type KeyObject, X509Certificate } from "node:crypto";
import { orderChain } from "./chain.ts";
import { readKey } from "./customKey.ts";
import { covers, namesOf } from "./names.ts";
import { isCertificate, isCutOff, isKey, readBlocks } from "./pem.ts";
import { type CustomCertificateProblem, Unusable } from "./unusable.ts";

export interface ReadCertificate {
  /** Lower case, as in DNS; maybe `*.example.com`. */
  readonly names: readonly string[];
  /** PEM, the names' own first, no root. */
  readonly chain: string;
  /** PEM, PKCS#8. */
  readonly key: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** SHA-256 of the first of the chain, in hex. */
  readonly fingerprint: string;
}

/** Of each text. A chain of ten certificates with long keys has a third of it. */
export const mostPemBytes = 65_536;
const mostCertificates = 20;
const namesShown = 5;

/**
 * Reads PEM texts of a key and of a certificate with its chain, in any order. `names` are those that it must be for, in
 * lower case; `*.example.com` stands for itself.
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
    if (error instanceof Unusable) return { ok: false, problem: error.problem };
    throw error;
  }
}

/** What is kept of a chain in its order. */
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
    if (Buffer.byteLength(text) > mostPemBytes)
      throw new Unusable(field, `${field} is longer than ${mostPemBytes} bytes.`);
  }
}

/** Each once. */
function readCertificates(text: string): X509Certificate[] {
  const blocks = readBlocks(text);
  if (blocks.some(isKey)) {
    throw refuse("custom_ssl_cert holds a private key. Give that in custom_ssl_key alone, and only certificates here.");
  }
  if (isCutOff(text)) throw refuse("custom_ssl_cert is cut off. Give the whole text, up to its last line of END.");
  const certificates = blocks.filter(isCertificate);
  if (certificates.length === 0) {
    throw refuse("custom_ssl_cert is not a certificate in PEM. It begins with -----BEGIN CERTIFICATE-----.");
  }
  if (certificates.length > mostCertificates) {
    throw refuse(`custom_ssl_cert holds more than ${mostCertificates} certificates. Give the chain of this one alone.`);
  }
  const read = certificates.map((block) => parse(block.text));
  return [...new Map(read.map((certificate) => [certificate.fingerprint256, certificate])).values()];
}

function parse(text: string): X509Certificate {
  try {
    return new X509Certificate(text.replaceAll("X509 CERTIFICATE", "CERTIFICATE"));
  } catch {
    throw refuse("custom_ssl_cert is damaged: a certificate in it can't be read. Copy the whole text again.");
  }
}

function refuseByDate(certificate: X509Certificate, isOwn: boolean, now: Date): void {
  const which = isOwn ? "custom_ssl_cert" : "custom_ssl_cert holds a certificate of the chain that";
  const { validFromDate, validToDate } = certificate;
  if (validToDate <= now) throw refuse(`${which} expired on ${dayOf(validToDate)}. Give one that is valid now.`);
  if (validFromDate > now)
    throw refuse(`${which} is not valid before ${validFromDate.toISOString()}. Give it again then.`);
}

function refuseByName(own: readonly string[], wanted: readonly string[]): void {
  const missing = wanted.find((name) => !covers(own, name));
  if (missing === undefined) return;
  const shown = own.slice(0, namesShown).join(", ") || "no host name at all";
  const more = own.length > namesShown ? ` and ${own.length - namesShown} more` : "";
  throw refuse(`custom_ssl_cert is not for ${missing}, but for ${shown}${more}. Give one that names ${missing}.`);
}

function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, "yyyy-mm-dd".length);
}

function refuse(reason: string): Unusable {
  return new Unusable("custom_ssl_cert", reason);
}
