/**
 * What stands in a link to a downloadable backup: its id, and 256 bits that only the installation's key makes of that id. So
 * a link can be shown again although nothing of it is stored, and who reads the database has no link.
 */
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

export interface DownloadTokens {
  tokenOf(id: string): string;
  /** Null for what is no token of ours. */
  idOf(token: string): string | null;
}

const idBytes = 16;
const tokenBytes = idBytes + 32;

/** `key` is the installation's own; this makes another one of it. */
export function makeDownloadTokens(key: Buffer): DownloadTokens {
  const own = Buffer.from(hkdfSync("sha256", key, "", "sitewright download links", 32));
  const tokenFor = (id: Buffer) => Buffer.concat([id, createHmac("sha256", own).update(id).digest()]);
  return {
    tokenOf: (id) => tokenFor(Buffer.from(id.replaceAll("-", ""), "hex")).toString("base64url"),
    idOf: (token) => {
      const bytes = Buffer.from(token, "base64url");
      // Another spelling of the same bytes is none of ours.
      if (bytes.length !== tokenBytes || bytes.toString("base64url") !== token) return null;
      const id = bytes.subarray(0, idBytes);
      if (!timingSafeEqual(bytes, tokenFor(id))) return null;
      return id.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    },
  };
}
