/** Sorts certificates into the order in which TLS sends them. */
import type { KeyObject, X509Certificate } from "node:crypto";
import { InvalidCustomCertificate } from "./customCertificateProblem.ts";

/**
 * Returns the key's certificate first, each followed by its signer's. Omits the root: clients that trust it have it.
 * Throws `InvalidCustomCertificate` if no certificate belongs to the key, or if one is not part of the chain.
 */
export function orderChain(
  certificates: readonly X509Certificate[],
  key: KeyObject,
): [X509Certificate, ...X509Certificate[]] {
  const matching = certificates.filter((certificate) => certificate.checkPrivateKey(key)).sort(byLatestExpiry);
  const [leaf] = matching;
  if (!leaf) {
    throw new InvalidCustomCertificate(
      "custom_ssl_key",
      "custom_ssl_key does not belong to custom_ssl_cert. Send the key that the certificate was requested with.",
    );
  }
  const rest = certificates.filter((certificate) => certificate !== leaf);
  const chain: [X509Certificate, ...X509Certificate[]] = [leaf];
  const intermediates = rest.filter((certificate) => !isSelfSigned(certificate));
  for (let last = leaf, next = signerOf(last, intermediates); next; last = next, next = signerOf(last, intermediates)) {
    intermediates.splice(intermediates.indexOf(next), 1);
    chain.push(next);
  }
  const unrelated = [
    ...intermediates,
    ...rest.filter((root) => isSelfSigned(root) && !chain.some((certificate) => isSignedBy(certificate, root))),
  ];
  const [first] = unrelated;
  if (first) throw new InvalidCustomCertificate("custom_ssl_cert", unrelatedReason(first));
  return chain;
}

function byLatestExpiry(one: X509Certificate, other: X509Certificate): number {
  return other.validToDate.getTime() - one.validToDate.getTime();
}

function signerOf(certificate: X509Certificate, candidates: readonly X509Certificate[]): X509Certificate | undefined {
  return candidates.find((signer) => isSignedBy(certificate, signer));
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return isSignedBy(certificate, certificate);
}

function isSignedBy(certificate: X509Certificate, signer: X509Certificate): boolean {
  return certificate.checkIssued(signer) && certificate.verify(signer.publicKey);
}

function unrelatedReason(certificate: X509Certificate): string {
  const subject = certificate.subject?.replaceAll("\n", ", ") ?? "without a subject";
  return `custom_ssl_cert contains a certificate that is not part of the chain (${subject.slice(0, 200)}). Remove it.`;
}
