/**
 * What a browser keeps of a sign-in through the provider: first what the provider's answer is checked with, then who has signed in there.
 * Both are sealed in a cookie instead of stored, so beginning costs the database nothing. What was used is remembered until it expires,
 * so that nothing counts twice.
 */
import { hash } from "node:crypto";
import { useChallenge } from "@sitewright/server/store/company/passkeys.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { Type } from "typebox";
import { Value } from "typebox/value";
import type { App } from "../context.ts";
import { Refused } from "../failures.ts";

const purpose = Type.Enum(["sign_in", "link"]);
/** Id of the session in which linking began, which no other one may finish. Null: it is for a sign-in. */
const session = Type.Union([Type.String(), Type.Null()]);
const until = Type.Number();

const pendingSchema = Type.Object({
  state: Type.String(),
  nonce: Type.String(),
  verifier: Type.String(),
  redirectUri: Type.String(),
  purpose,
  session,
  until,
});

const identitySchema = Type.Object({
  issuer: Type.String(),
  subject: Type.String(),
  email: Type.String(),
  purpose,
  session,
  until,
});

export type Purpose = Type.Static<typeof purpose>;
type Pending = Type.Static<typeof pendingSchema>;
/** Somebody who has signed in at the provider with a verified address. */
export type Identity = Type.Static<typeof identitySchema>;

/** The bytes as they were sealed, which no other text in the cookie can hide. */
interface Sealed {
  readonly sealed: Buffer;
}

/** How long each of the two parts may take. */
export const partSeconds = 10 * 60;

const contexts = { pending: "sign-in at the provider", identity: "identity at the provider" } as const;

/** Returns the value of the cookie. */
export function sealPending(app: Pick<App, "sealer">, pending: Omit<Pending, "until">): string {
  return seal(app, contexts.pending, pending);
}

/** Throws `Refused` if the cookie has none, or it has expired. */
export function openPending({ sealer }: Pick<App, "sealer">, cookie: string): Pending & Sealed {
  const { sealed, content } = open(sealer, contexts.pending, cookie);
  if (!Value.Check(pendingSchema, content) || content.until < Date.now()) throw unusable();
  return { ...content, sealed };
}

/** Returns the value of the cookie. */
export function sealIdentity(app: Pick<App, "sealer">, identity: Omit<Identity, "until">): string {
  return seal(app, contexts.identity, identity);
}

/** Throws `Refused` if the cookie has none for this purpose, or it has expired. */
export function openIdentity({ sealer }: Pick<App, "sealer">, cookie: string, wanted: Purpose): Identity & Sealed {
  const { sealed, content } = open(sealer, contexts.identity, cookie);
  if (!Value.Check(identitySchema, content) || content.until < Date.now()) throw unusable();
  if (content.purpose !== wanted) throw unusable();
  return { ...content, sealed };
}

/** Throws `Refused` if it was used before. */
export async function useOnce(
  transaction: DatabaseTransaction,
  { sealed, until: end }: Sealed & { readonly until: number },
): Promise<void> {
  if (!(await useChallenge(transaction, hash("sha256", sealed, "buffer"), new Date(end)))) throw unusable();
}

export function unusable(): Refused {
  return new Refused(
    "provider_answer_unusable",
    "This sign-in has expired, was used before, or has begun in another browser or session. Begin again.",
  );
}

function seal({ sealer }: Pick<App, "sealer">, context: string, content: object): string {
  const facts = { ...content, until: Date.now() + partSeconds * 1000 };
  return sealer.seal(JSON.stringify(facts), context).toString("base64url");
}

function open(sealer: App["sealer"], context: string, cookie: string): Sealed & { readonly content: unknown } {
  const sealed = Buffer.from(cookie, "base64url");
  try {
    return { sealed, content: JSON.parse(sealer.open(sealed, context)) };
  } catch {
    throw unusable();
  }
}
