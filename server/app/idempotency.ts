/**
 * The same request, sent twice under one `Idempotency-Key`, is carried out once.
 *
 * The key is taken, the work done and the answer stored in one transaction: a process that is killed leaves all
 * of it or nothing, and a second request that comes meanwhile waits for the first one's answer.
 *
 * An answer may hold a secret (a new API key's token), and a request's hash could be used to guess a password.
 * Both are therefore made with a key derived from the caller's own token, which is not stored anywhere.
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

/** An answer as it goes out. */
export interface FinishedAnswer<Body = string | Buffer> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes where they are sent again and again. */
  readonly body: Body;
}

export interface OnceRequest {
  readonly apiKeyId: string;
  /** The caller's bearer token. */
  readonly token: string;
  readonly key: string;
  /** Everything of the request that makes it this one: method, address, body. */
  readonly fingerprint: string;
}

interface OnceWork {
  /** Does what was asked for, all of it in that transaction. */
  readonly run: (transaction: DatabaseTransaction) => Promise<FinishedAnswer>;
  /** The answer to a failure that is the request's own fault; null for any other, which is not stored. */
  readonly refusal: (error: unknown) => FinishedAnswer | null;
}

/** Returns the answer, and whether it is an earlier one. Throws `Refused` if the key was used for something else. */
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

/** A refusal takes back what the work did, and keeps the claim on the key. */
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
