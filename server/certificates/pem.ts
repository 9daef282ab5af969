/** Reads PEM as people paste it: blocks between BEGIN and END lines, with any text around them. */

export interface PemBlock {
  /** Such as `CERTIFICATE` or `RSA PRIVATE KEY`. */
  readonly label: string;
  /** The whole block, with its BEGIN and END lines. */
  readonly text: string;
}

/**
 * Stops at the next `-----`, to stay linear. Single dashes are allowed: old password-protected keys have them in
 * headers.
 */
const block = /-----BEGIN ([A-Z0-9 ]{1,40})-----(?:[^-]|-(?!----))*-----END \1-----/g;

export function readBlocks(text: string): PemBlock[] {
  return [...text.matchAll(block)].map(([whole, label]) => ({ label: label ?? "", text: whole }));
}

/** Whether a block has no end. */
export function isTruncated(text: string): boolean {
  return (text.match(/-----BEGIN /g)?.length ?? 0) > readBlocks(text).length;
}

export function isKey({ label }: PemBlock): boolean {
  return label.endsWith("PRIVATE KEY");
}

export function isCertificate({ label }: PemBlock): boolean {
  return label === "CERTIFICATE" || label === "X509 CERTIFICATE";
}
