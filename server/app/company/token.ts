/**
 * The format of API keys: `sk_`, the id as 32 hexadecimal digits, `_`, and a secret of 256 random bits. Only a hash of the
 * secret is stored. Tokens of sessions begin with `ss_`, and are accepted only in a cookie; those of invitations with `si_`, and
 * those of links to choose a new password with `sr_`.
 *
 * An operator can choose the text of the first key instead. It contains no id, so the id is derived from the text.
 */
import { hash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";

const issued = /^(s[ikrs])_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;
const chosen = /^[\x21-\x7e]{16,200}$/;

export type TokenKind = "key" | "session" | "invitation" | "reset";
const prefixes = { key: "sk", session: "ss", invitation: "si", reset: "sr" } as const;

/** The parts of a token that are stored and looked up. */
export interface TokenFacts {
  readonly kind: TokenKind;
  readonly id: string;
  readonly secretHash: Buffer;
}

/** Generates a token. It is shown once and never stored. */
export function makeToken(kind: TokenKind = "key"): string {
  return `${prefixes[kind]}_${randomUUID().replaceAll("-", "")}_${randomBytes(32).toString("base64url")}`;
}

/** Whether an operator can choose the text as a key: 16 to 200 visible ASCII characters. */
export function isPossibleToken(token: string): boolean {
  return chosen.test(token);
}

/** Accepts any text: a text that is no token of this kind gets an id that none has. */
export function readToken(token: string, kind: TokenKind = "key"): TokenFacts {
  const [, prefix, ...parts] = issued.exec(token) ?? [];
  if (prefix !== prefixes[kind]) return { kind, id: derivedId(token), secretHash: sha256(token) };
  return { kind, id: parts.slice(0, 5).join("-"), secretHash: sha256(parts[5] ?? "") };
}

export function isSameHash(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

function derivedId(token: string): string {
  const hex = hash("sha256", `sitewright key id\0${token}`);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}

function sha256(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
