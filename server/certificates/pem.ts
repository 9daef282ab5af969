/** PEM, as people paste it: blocks between lines of dashes, with anything around them. */

export interface PemBlock {
  /** `CERTIFICATE`, `RSA PRIVATE KEY`. */
  readonly label: string;
  /** The whole block, with its lines of dashes. */
  readonly text: string;
}

/** Each looks no further than to the next line of dashes. Old keys with a password have single ones in their head. */
const block = /-----BEGIN ([A-Z0-9 ]{1,40})-----(?:[^-]|-(?!----))*-----END \1-----/g;

export function readBlocks(text: string): PemBlock[] {
  return [...text.matchAll(block)].map(([whole, label]) => ({ label: label ?? "", text: whole }));
}

/** Whether a block begins that does not end. */
export function isCutOff(text: string): boolean {
  return (text.match(/-----BEGIN /g)?.length ?? 0) > readBlocks(text).length;
}

export function isKey({ label }: PemBlock): boolean {
  return label.endsWith("PRIVATE KEY");
}

export function isCertificate({ label }: PemBlock): boolean {
  return label === "CERTIFICATE" || label === "X509 CERTIFICATE";
}
