/**
 * Carries out a request that is sent twice with the same `Idempotency-Key` only once.
 *
 * The changes that the work makes, its claim on the key and the stored answer are one transaction: a process that is
 * killed leaves all of them or none. The work can first wait for PHP or other servers, which takes no transaction, so
 * that slow requests can't use up the database's connections. Requests with the same key wait for each other in this
 * process; of two processes, the second to claim the key gets the first one's answer.
 *
 * An answer may contain a secret (a new API key's token), and a plain hash of the request could be used to guess a password.
 * Answers are therefore encrypted, and hashes keyed, with a secret derived from the caller's token, which is stored nowhere.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import type { Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import {
  claimIdempotencyKey,
  findStoredAnswer,
  type StoredAnswer,
  storeAnswer,
} from "@sitewright/server/store/idempotencyKeys.ts";
import {
  afterChange,
  DatabaseUnavailable,
  isConflict,
  isConnectionLost,
  repeatUndone,
} from "@sitewright/server/store/outages.ts";
import { commit, runTransaction } from "@sitewright/server/store/transactions.ts";
import { isSameHash } from "./company/token.ts";
import type { RequestDatabase } from "./context.ts";
import { Refused } from "./failures.ts";

/** An answer, ready to be sent. */
export interface FinishedAnswer<Body = string | Buffer> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A buffer if the same bytes are sent repeatedly. */
  readonly body: Body;
}

/** Takes one of the places for transactions of the caller's company, and returns its release. */
export type TakePlace = () => Promise<() => void>;

interface OnceRequest {
  readonly apiKeyId: string;
  readonly takePlace: TakePlace;
  /** The caller's bearer token. */
  readonly token: string;
  readonly key: string;
  /** Method, URL and body. */
  readonly fingerprint: string;
}

interface OnceWork {
  /** Carries out the request. */
  readonly run: (database: RequestDatabase) => Promise<FinishedAnswer>;
  /** The answer to an error that the request itself has caused; null for other errors, which are not stored. */
  readonly refusal: (error: unknown) => FinishedAnswer | null;
}

type AnswerOnce = (request: OnceRequest, work: OnceWork) => Promise<FinishedAnswer & { readonly isRepeated: boolean }>;

/**
 * Makes the function that returns the answer, and whether it is a repeated one. It throws `Refused` if the key was used
 * with another request.
 */
export function makeAnswerOnce(database: Database): AnswerOnce {
  const newest = new Map<string, Promise<unknown>>();
  return (request, work) => {
    const name = `${request.apiKeyId} ${request.key}`;
    const turn = (newest.get(name) ?? Promise.resolve()).then(() => answer(database, request, work));
    const settled = turn.then(ignore, ignore).then(() => {
      if (newest.get(name) === settled) newest.delete(name);
    });
    newest.set(name, settled);
    return turn;
  };
}

const ignore = (): void => undefined;

/** Another request with this key was answered in the meantime. */
class AlreadyAnswered extends Error {
  readonly answer: StoredAnswer;
  constructor(answer: StoredAnswer) {
    super("Another request with this key was answered");
    this.answer = answer;
  }
}

async function answer(database: Database, request: OnceRequest, work: OnceWork): ReturnType<AnswerOnce> {
  const { apiKeyId, key } = request;
  const secret = Buffer.from(hkdfSync("sha256", request.token, "", "sitewright idempotency", 32));
  const hash = createHmac("sha256", secret).update(request.fingerprint).digest();
  const earlier = await findStoredAnswer(database, apiKeyId, key);
  if (earlier) return { ...repeat(earlier, hash, secret), isRepeated: true };
  await using held = holdTransaction(database, request.takePlace, async (transaction) => {
    const stored = await claimIdempotencyKey(transaction, apiKeyId, key, hash);
    if (stored) throw new AlreadyAnswered(stored);
  });
  try {
    const made = await attempt(held, work);
    const body = seal(String(made.body), secret);
    await held.inTransaction((transaction) => storeAnswer(transaction, apiKeyId, key, { ...made, body }));
    await held.commit();
    return { ...made, isRepeated: false };
  } catch (error) {
    if (!(error instanceof AlreadyAnswered)) throw error;
    return { ...repeat(error.answer, hash, secret), isRepeated: true };
  }
}

/** Undoes the work if it is refused. */
async function attempt(held: HeldTransaction, work: OnceWork): Promise<FinishedAnswer> {
  try {
    return await work.run(held);
  } catch (error) {
    const refusal = error instanceof AlreadyAnswered ? null : work.refusal(error);
    if (!refusal) throw error;
    await held.rollBack();
    return refusal;
  }
}

/** The database of a request without a key: each transaction is committed by itself. */
export function withoutKey(database: Database, takePlace: TakePlace): RequestDatabase {
  let hasCommitted = false;
  return {
    database,
    inTransaction: async (work) => {
      const leave = await takePlace();
      try {
        const result = await runTransaction(database, work);
        hasCommitted = true;
        return result;
      } catch (error) {
        throw hasCommitted ? afterChange(error) : error;
      } finally {
        leave();
      }
    },
  };
}

interface HeldTransaction extends RequestDatabase, AsyncDisposable {
  commit(): Promise<void>;
  /** The next use begins another transaction. */
  rollBack(): Promise<void>;
}

/** A transaction that begins, with `claim`, when it is first used. Disposing of it rolls it back if it is still open. */
function holdTransaction(
  database: Database,
  takePlace: TakePlace,
  claim: (transaction: DatabaseTransaction) => Promise<void>,
): HeldTransaction {
  let beginning: ReturnType<typeof begin> | null = null;
  let open: Awaited<ReturnType<typeof begin>> | null = null;
  let hasChanges = false;
  let leave: (() => void) | null = null;
  async function begin() {
    leave ??= await takePlace();
    const transaction = await database.startTransaction().execute();
    open = transaction;
    await claim(transaction);
    return transaction;
  }
  function leavePlace() {
    leave?.();
    leave = null;
  }
  function take() {
    const taken = open;
    beginning = null;
    open = null;
    hasChanges = false;
    return taken;
  }
  /** A lost connection has rolled back, too. */
  const rollBack = async () => {
    try {
      await take()?.rollback().execute().catch(unlessLost);
    } finally {
      leavePlace();
    }
  };
  const commitOpen = async () => {
    const ending = take();
    try {
      if (ending !== null) await commit(database, ending);
    } finally {
      leavePlace();
    }
  };
  async function use<T>(work: (transaction: DatabaseTransaction) => Promise<T>): Promise<T> {
    beginning ??= begin();
    const result = await work(await beginning);
    hasChanges = true;
    return result;
  }
  return {
    get database() {
      return open ?? database;
    },
    inTransaction: async (work) => {
      // The changes of earlier work would be missing from another transaction.
      if (hasChanges) return use(work).catch(asUnavailable);
      return use(work).catch((error: unknown) =>
        repeatUndone(async () => {
          await rollBack();
          return use(work);
        }, error),
      );
    },
    commit: commitOpen,
    rollBack,
    [Symbol.asyncDispose]: rollBack,
  };
}

function unlessLost(error: unknown): void {
  if (!isConnectionLost(error)) throw error;
}

/** Nothing was committed. */
function asUnavailable(error: unknown): never {
  throw isConnectionLost(error) || isConflict(error) ? new DatabaseUnavailable(error) : error;
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
