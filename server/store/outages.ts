/**
 * What happens to queries while PostgreSQL restarts, or can't be reached for another reason.
 *
 * New connections wait for it (`waitingPool.ts`), so work that has not begun does not fail. Reads are repeated. So are transactions
 * that were not committed, if the caller allows it (`transactions.ts`). A change is never repeated if it may have been made.
 */

/** The database can't be reached, or is overloaded. Nothing was changed. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
  constructor(cause: unknown) {
    super("The database can't be reached", { cause });
  }
}

/**
 * The database was lost when changes may have been made: between two transactions, or after COMMIT was sent, if PostgreSQL did not
 * tell the outcome.
 */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
  constructor(cause: unknown) {
    super("The database was lost when changes may have been made", { cause });
  }
}

/** The error to throw after something has been changed: that the database can't be reached means that the outcome is unknown. */
export function afterChange(error: unknown): unknown {
  return error instanceof DatabaseUnavailable ? new OutcomeUnknown(error) : error;
}

/** How long a query waits for a connection, and how long lost work is repeated. */
export const waitMilliseconds = 15_000;
const pauseMilliseconds = 50;

/** Between two attempts. */
export const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));

/** Of the system for a connection, and of PostgreSQL: shutdown, crash, startup, too many connections, and failures of the connection. */
const lostCodes = new Set([
  ...["ECONNRESET", "EPIPE", "ETIMEDOUT"],
  ...["57P01", "57P02", "57P03", "53300", "08000", "08001", "08003", "08004", "08006"],
]);
/** Of the system, when it connects. `EAGAIN`: too many connections wait at a socket file to be accepted. */
const refusedCodes = new Set(["ECONNREFUSED", "ENOENT", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "EAGAIN"]);
/** Errors of node-postgres, which have no code. */
const lostMessages =
  /^(Connection terminated( unexpectedly| due to connection timeout)?|timeout expired|Client has encountered a connection error and is not queryable)$/;

const finalErrors = new WeakSet<Error>();

/** Marks an error after which nothing is to be repeated, although there is no connection. */
export function markFinal(error: Error): Error {
  finalErrors.add(error);
  return error;
}

/** Whether the error means that there is no connection to the database, or no longer. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isConnectionLost);
  if (!(error instanceof Error) || finalErrors.has(error)) return false;
  const code = "code" in error ? String(error.code) : "";
  const isRefused = "syscall" in error && error.syscall === "connect" && refusedCodes.has(code);
  return isRefused || lostCodes.has(code) || lostMessages.test(error.message);
}

/** Of PostgreSQL: it ended a transaction because that and another one waited for each other, or their changes contradict. */
const conflictCodes = new Set(["40P01", "40001"]);

/** Whether PostgreSQL has undone a transaction only because of others that ran at the same time: repeated, it may succeed. */
export function isConflict(error: unknown): boolean {
  return error instanceof Error && "code" in error && conflictCodes.has(String(error.code));
}

/** Whether a statement is certain to change nothing. */
export function isRead(statement: string): boolean {
  if (!/^\s*(select|with)\b/i.test(statement)) return false;
  return !/\b(insert|update|delete|merge|into|nextval|setval|pg_notify|pg_\w*advisory\w*|for (no key )?(update|share))\b/i.test(
    statement,
  );
}

/** Runs a statement. Repeats it if the connection was lost and it is a read. */
export function repeatRead<T>(statement: string, run: () => Promise<T>): Promise<T> {
  return run().catch((error: unknown) => {
    if (!isConnectionLost(error) || !isRead(statement)) throw error;
    return repeatUndone(run, error);
  });
}

/**
 * Repeats work that failed with `error`, and of which nothing is left, for as long as connections are lost or other transactions get
 * in its way. The work itself waits for the database.
 */
export async function repeatUndone<T>(
  work: () => Promise<T>,
  error: unknown,
  deadline = performance.now() + waitMilliseconds,
): Promise<T> {
  for (let last = error; ; ) {
    if (!isConnectionLost(last) && !isConflict(last)) throw last;
    if (performance.now() >= deadline) throw new DatabaseUnavailable(last);
    await pause();
    try {
      return await work();
    } catch (next) {
      last = next;
    }
  }
}
