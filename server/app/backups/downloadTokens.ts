/**
 * Tokens in links to downloadable backups: the id and its 256-bit HMAC with the installation's key. A link can thus be shown
 * again without being stored, and reading the database does not reveal it.
 */
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

export interface DownloadTokens {
  tokenOf(id: string): string;
  /** Null if the token is not valid. */
  idOf(token: string): string | null;
}

const idBytes = 16;
const tokenBytes = idBytes + 32;

/** `key` is the installation's key, from which the signing key is derived. */
export function makeDownloadTokens(key: Buffer): DownloadTokens {
  const signingKey = Buffer.from(hkdfSync("sha256", key, "", "sitewright download links", 32));
  const tokenFor = (id: Buffer) => Buffer.concat([id, createHmac("sha256", signingKey).update(id).digest()]);
  return {
    tokenOf: (id) => tokenFor(Buffer.from(id.replaceAll("-", ""), "hex")).toString("base64url"),
    idOf: (token) => {
      const bytes = Buffer.from(token, "base64url");
      // Only the canonical encoding of the bytes is valid.
      if (bytes.length !== tokenBytes || bytes.toString("base64url") !== token) return null;
      const id = bytes.subarray(0, idBytes);
      if (!timingSafeEqual(bytes, tokenFor(id))) return null;
      return id.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    },
  };
}
