/**
 * Notices that PostgreSQL has stopped answering without closing its connections, for example because its machine hangs.
 *
 * A statement may take long for other reasons. So if one runs for a second, a new connection is tried. If PostgreSQL does not answer
 * within `silenceMilliseconds`, the connections whose statements have waited for as long are closed. PostgreSQL rolls their
 * transactions back when it continues, so they fail with `DatabaseUnavailable`. A change outside of a transaction may still be
 * carried out, so it fails as if its connection had been lost. Only a COMMIT keeps waiting, because its outcome can be told later.
 */
import pg from "pg";
import { DatabaseUnavailable, isConnectionLost, isRead, pause } from "./outages.ts";

/** After PostgreSQL has answered. A long statement would cost a new connection each second otherwise. */
const restMilliseconds = 10_000;

interface SilenceOptions {
  /** How long PostgreSQL may say nothing. */
  readonly silenceMilliseconds: number;
  /** Statements that run for less time are ignored. */
  readonly intervalMilliseconds: number;
}

export function closeSilentConnections(
  pool: pg.Pool,
  { silenceMilliseconds, intervalMilliseconds }: SilenceOptions,
): void {
  const clients = new Set<pg.PoolClient>();
  let running: Statements = new Map();
  let isProbing = false;
  let nextProbe = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Probes if a statement has been running since the last call. */
  function look(): void {
    const before = running;
    running = runningOf(clients);
    if (isProbing || performance.now() < nextProbe) return;
    if (stillRunning(before, running).length > 0) void probe(running);
  }

  async function probe(since: Statements): Promise<void> {
    isProbing = true;
    const error = await whySilent(pool, silenceMilliseconds);
    isProbing = false;
    if (error === null) nextProbe = performance.now() + restMilliseconds;
    else for (const client of stillRunning(since, runningOf(clients))) close(client, error);
  }

  pool.on("connect", (client) => {
    clients.add(client);
    timer ??= setInterval(look, intervalMilliseconds).unref();
  });
  pool.on("remove", (client) => {
    clients.delete(client);
    if (clients.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  });
}

/** The statements that PostgreSQL has not answered yet. */
type Statements = ReadonlyMap<pg.PoolClient, object>;

/** Returns all running statements except COMMIT. */
function runningOf(clients: Iterable<pg.PoolClient>): Statements {
  const statements = new Map<pg.PoolClient, object>();
  for (const client of clients) {
    const statement = statementOf(client);
    if (statement !== null && !isCommit(statement)) statements.set(client, statement);
  }
  return statements;
}

/** Reads a private field, since node-postgres does not publish the running statement. */
function statementOf(client: pg.PoolClient): object | null {
  const statement = "_activeQuery" in client ? client._activeQuery : null;
  return typeof statement === "object" ? statement : null;
}

const textOf = (statement: object): string =>
  "text" in statement && typeof statement.text === "string" ? statement.text : "";

const isCommit = (statement: object): boolean => /^\s*commit\b/i.test(textOf(statement));

/** Whether the running statement is certain to change nothing if its connection is closed. */
function changesNothing(client: pg.PoolClient): boolean {
  if (client.getTransactionStatus() !== "I") return true;
  const text = textOf(statementOf(client) ?? {});
  return isRead(text) || /^\s*(begin|start transaction)\b/i.test(text);
}

const stillRunning = (before: Statements, now: Statements): readonly pg.PoolClient[] =>
  [...now].filter(([client, statement]) => before.get(client) === statement).map(([client]) => client);

/** Returns the error of the last attempt, or null as soon as PostgreSQL answers, even if it refuses the connection. */
async function whySilent({ options }: pg.Pool, milliseconds: number): Promise<unknown> {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    const left = Math.max(1, deadline - performance.now());
    const error = await tryConnection({ ...options, connectionTimeoutMillis: left });
    // For example too many connections, or not ready yet.
    if (error instanceof pg.DatabaseError || !isConnectionLost(error)) return null;
    if (performance.now() >= deadline) return error;
    await pause();
  }
}

/** Returns why the database can't be connected to, or null. */
export async function tryConnection(config: pg.ClientConfig): Promise<unknown> {
  const client = new pg.Client(config);
  client.on("error", () => undefined);
  const error = await client.connect().then(
    () => null,
    (problem: unknown) => problem,
  );
  client.end().catch(() => undefined);
  return error;
}

function close(client: pg.PoolClient, cause: unknown): void {
  if (!("connection" in client && client.connection instanceof pg.Connection)) return;
  const error = changesNothing(client)
    ? new DatabaseUnavailable(cause)
    : new Error("Connection terminated unexpectedly", { cause });
  client.connection.stream.destroy(error);
}
