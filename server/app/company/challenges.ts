/**
 * Challenges that passkeys sign. They are sealed instead of stored, so asking for one costs the database nothing. One that was answered
 * is remembered until it expires, so that no answer counts twice.
 */
import { hash } from "node:crypto";
import { fieldOf } from "@sitewright/runtimes/fields.ts";
import { useChallenge } from "@sitewright/server/store/company/passkeys.ts";
import type { App, RequestDatabase } from "../context.ts";
import { Refused } from "../failures.ts";

/** What a challenge is for, and for whom: nothing else accepts it. */
export interface ChallengePurpose {
  /** `add`: for a session. `second-factor`: for a user whose password was right. `sign-in`: for anybody. */
  readonly kind: "add" | "second-factor" | "sign-in";
  /** Id of the session or user, or empty. */
  readonly subject: string;
}

/** A challenge that was answered. */
export interface AnsweredChallenge {
  /** As the browser has signed it. */
  readonly text: string;
  /** Of the page that asked for it. */
  readonly origin: string;
  readonly expiresAt: Date;
}

export const challengeMilliseconds = 5 * 60 * 1000;
const sealedFor = "passkey challenge";

/** Makes a challenge in base64url, for a page of `origin`. */
export function makeChallenge({ sealer }: Pick<App, "sealer">, purpose: ChallengePurpose, origin: string): string {
  const facts = { ...purpose, origin, until: Date.now() + challengeMilliseconds };
  return sealer.seal(JSON.stringify(facts), sealedFor).toString("base64url");
}

/**
 * Reads the challenge in what a browser has signed (`clientDataJSON` in base64url), and uses it up, whether the signature is valid or
 * not. Throws `Refused` if it is not for this purpose, expired, or was used.
 */
export async function useAnsweredChallenge(
  { sealer }: Pick<App, "sealer">,
  inTransaction: RequestDatabase["inTransaction"],
  clientData: string,
  purpose: ChallengePurpose,
): Promise<AnsweredChallenge> {
  const text = challengeIn(clientData);
  const facts = openChallenge(sealer, text);
  const isRight = textAt(facts, "kind") === purpose.kind && textAt(facts, "subject") === purpose.subject;
  const until = Number(fieldOf(facts, "until"));
  if (!isRight || !(until > Date.now())) throw wrongPasskey("It belongs to another attempt, or came too late.");
  const expiresAt = new Date(until);
  const isFirst = await inTransaction((transaction) =>
    useChallenge(transaction, hash("sha256", text, "buffer"), expiresAt),
  );
  if (!isFirst) throw wrongPasskey("This answer was sent before.");
  return { text, origin: textAt(facts, "origin"), expiresAt };
}

/** `why`: a sentence. */
export function wrongPasskey(why: string): Refused {
  return new Refused("wrong_passkey", `The passkey was not accepted. ${why} Begin again.`);
}

function challengeIn(clientData: string): string {
  return textAt(parsed(Buffer.from(clientData, "base64url").toString("utf8")), "challenge");
}

/** Undefined: it is none of ours. */
function openChallenge(sealer: App["sealer"], text: string): unknown {
  try {
    return parsed(sealer.open(Buffer.from(text, "base64url"), sealedFor));
  } catch {
    return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textAt(value: unknown, name: string): string {
  const field = fieldOf(value, name);
  return typeof field === "string" ? field : "";
}
