/**
 * Tokens in links to downloadable backups: the id and its 256-bit HMAC with the installation's key. A link can thus be shown
 * again without being stored, and reading the database does not reveal it.
 */
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { FileKey, KeySource } from "@sitewright/server/keyFile.ts";

export interface DownloadTokens {
  tokenOf(id: string): string;
  /** Null if the token is not valid. */
  idOf(token: string): string | null;
}

const idBytes = 16;
const tokenBytes = idBytes + 32;

/** `keys` are the installation's, from which signing keys are derived. Links of older keys stay valid. */
export function makeDownloadTokens(keys: KeySource): DownloadTokens {
  return {
    tokenOf: (id) => tokenFor(Buffer.from(id.replaceAll("-", ""), "hex"), keys.newest()).toString("base64url"),
    idOf: (token) => {
      const bytes = Buffer.from(token, "base64url");
      // Only the canonical encoding of the bytes is valid.
      if (bytes.length !== tokenBytes || bytes.toString("base64url") !== token) return null;
      const id = bytes.subarray(0, idBytes);
      if (!keys.all().some((key) => timingSafeEqual(bytes, tokenFor(id, key)))) return null;
      return id.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    },
  };
}

function tokenFor(id: Buffer, { bytes }: FileKey): Buffer {
  const signingKey = Buffer.from(hkdfSync("sha256", bytes, "", "sitewright download links", 32));
  return Buffer.concat([id, createHmac("sha256", signingKey).update(id).digest()]);
}
