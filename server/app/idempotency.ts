/**
 * Carries out a request that is sent twice with the same `Idempotency-Key` only once.
 *
 * One transaction claims the key, does the work and stores the answer: a process that is killed leaves all of it or
 * nothing, and a second request in the meantime waits for the first one's answer.
 *
 * An answer may contain a secret (a new API key's token), and a plain hash of the request could be used to guess a password.
 * Answers are therefore encrypted, and hashes keyed, with a secret derived from the caller's token, which is stored nowhere.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import type { Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import {
  claimIdempotencyKey,
  type StoredAnswer,
  setSavepoint,
  storeAnswer,
} from "@sitewright/server/store/idempotencyKeys.ts";
import { isSameHash } from "./company/token.ts";
import { Refused } from "./failures.ts";

/** An answer, ready to be sent. */
export interface FinishedAnswer<Body = string | Buffer> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A buffer if the same bytes are sent repeatedly. */
  readonly body: Body;
}

interface OnceRequest {
  readonly apiKeyId: string;
  /** The caller's bearer token. */
  readonly token: string;
  readonly key: string;
  /** Method, URL and body. */
  readonly fingerprint: string;
}

interface OnceWork {
  /** Carries out the request in the transaction. */
  readonly run: (transaction: DatabaseTransaction) => Promise<FinishedAnswer>;
  /** The answer to an error that the request itself has caused; null for other errors, which are not stored. */
  readonly refusal: (error: unknown) => FinishedAnswer | null;
}

/** Returns the answer, and whether it is a repeated one. Throws `Refused` if the key was used with another request. */
export function answerOnce(
  database: Database,
  request: OnceRequest,
  work: OnceWork,
): Promise<FinishedAnswer & { readonly isRepeated: boolean }> {
  const secret = Buffer.from(hkdfSync("sha256", request.token, "", "sitewright idempotency", 32));
  const hash = createHmac("sha256", secret).update(request.fingerprint).digest();
  return database.transaction().execute(async (transaction) => {
    const stored = await claimIdempotencyKey(transaction, request.apiKeyId, request.key, hash);
    if (stored) return { ...repeat(stored, hash, secret), isRepeated: true };
    const answer = await attempt(transaction, work);
    const { status, headers, body } = answer;
    await storeAnswer(transaction, request.apiKeyId, request.key, {
      status,
      headers,
      body: seal(String(body), secret),
    });
    return { ...answer, isRepeated: false };
  });
}

/** Rolls the work back if it is refused, and keeps the claim on the key. */
async function attempt(transaction: DatabaseTransaction, work: OnceWork): Promise<FinishedAnswer> {
  const rollBack = await setSavepoint(transaction);
  try {
    return await work.run(transaction);
  } catch (error) {
    const refusal = work.refusal(error);
    if (!refusal) throw error;
    await rollBack();
    return refusal;
  }
}

function repeat(stored: StoredAnswer, hash: Buffer, secret: Buffer): FinishedAnswer {
  if (!isSameHash(stored.requestHash, hash)) {
    throw new Refused(
      "idempotency_key_reused",
      "This Idempotency-Key was used in the last 24 hours with another request.",
    );
  }
  return { status: stored.status, headers: stored.headers, body: open(stored.body, secret) };
}

function seal(text: string, secret: Buffer): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", secret, iv);
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64");
}

function open(text: string, secret: Buffer): string {
  const bytes = Buffer.from(text, "base64");
  const decipher = createDecipheriv("aes-256-gcm", secret, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
}
