/** Recovery codes: almost 80 random bits each, so that nobody finds them from a fast hash. */
import { createHmac, randomInt } from "node:crypto";

/** Without characters that look alike. */
const characters = "abcdefghjkmnpqrstuvwxyz23456789";
const count = 10;
const groups = 4;
const groupLength = 4;

/** Returns new codes, such as `k3xt-97pc-mh2d-w6va`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: count }, () => Array.from({ length: groups }, newGroup).join("-"));
}

const newGroup = (): string =>
  Array.from({ length: groupLength }, () => characters.charAt(randomInt(characters.length))).join("");

/** The hash that is stored. Case, hyphens and spaces don't matter. */
export function recoveryHash(userId: string, code: string): Buffer {
  const plain = code.toLowerCase().replace(/[\s-]/gu, "");
  return createHmac("sha256", `sitewright recovery code ${userId}`).update(plain).digest();
}
