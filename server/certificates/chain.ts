/** Certificates that stand in any order, put into the one in which they are sent. */
import type { KeyObject, X509Certificate } from "node:crypto";
import { Unusable } from "./unusable.ts";

/**
 * The key's own certificate first, each followed by that of its signer. The root is left out: clients that trust it have it. Throws
 * `Unusable` where none belongs to the key, or one to none of the others.
 */
export function orderChain(
  certificates: readonly X509Certificate[],
  key: KeyObject,
): [X509Certificate, ...X509Certificate[]] {
  const own = certificates.filter((certificate) => certificate.checkPrivateKey(key)).sort(byEnd);
  const [leaf] = own;
  if (!leaf) {
    throw new Unusable(
      "custom_ssl_key",
      "custom_ssl_key does not belong to custom_ssl_cert. Give the key that the certificate was requested with.",
    );
  }
  const rest = certificates.filter((certificate) => certificate !== leaf);
  const chain: [X509Certificate, ...X509Certificate[]] = [leaf];
  const between = rest.filter((certificate) => !isSelfSigned(certificate));
  for (let last = leaf, next = signerOf(last, between); next; last = next, next = signerOf(last, between)) {
    between.splice(between.indexOf(next), 1);
    chain.push(next);
  }
  const strangers = [
    ...between,
    ...rest.filter((root) => isSelfSigned(root) && !chain.some((one) => isSignedBy(one, root))),
  ];
  const [stranger] = strangers;
  if (stranger) throw new Unusable("custom_ssl_cert", strange(stranger));
  return chain;
}

function byEnd(one: X509Certificate, other: X509Certificate): number {
  return other.validToDate.getTime() - one.validToDate.getTime();
}

function signerOf(certificate: X509Certificate, among: readonly X509Certificate[]): X509Certificate | undefined {
  return among.find((signer) => isSignedBy(certificate, signer));
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return isSignedBy(certificate, certificate);
}

function isSignedBy(certificate: X509Certificate, signer: X509Certificate): boolean {
  return certificate.checkIssued(signer) && certificate.verify(signer.publicKey);
}

function strange(certificate: X509Certificate): string {
  const subject = certificate.subject?.replaceAll("\n", ", ") ?? "without a subject";
  return `custom_ssl_cert holds a certificate that signed none of the others (${subject.slice(0, 200)}). Leave it out.`;
}
