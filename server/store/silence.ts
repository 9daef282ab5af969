/**
 * Notices that PostgreSQL has stopped answering without closing its connections, for example because its machine hangs.
 *
 * A long time alone says nothing about a statement. So if one runs for a moment, a new connection is tried. If that is not accepted
 * in its time, the connections whose statements have waited as long are closed, and fail with `DatabaseUnavailable`: PostgreSQL rolls
 * their transactions back when it continues. Only a COMMIT keeps waiting, because it may be carried out.
 */
import pg from "pg";
import { DatabaseUnavailable, isConnectionLost, pause } from "./outages.ts";

interface SilenceOptions {
  /** How long PostgreSQL may say nothing. */
  readonly silenceMilliseconds: number;
  /** A statement that runs for less is not looked at. */
  readonly intervalMilliseconds: number;
}

export function closeSilentConnections(
  pool: pg.Pool,
  { silenceMilliseconds, intervalMilliseconds }: SilenceOptions,
): void {
  const clients = new Set<pg.PoolClient>();
  let running: Statements = new Map();
  let isProbing = false;
  let timer: NodeJS.Timeout | undefined;

  /** Those that run since the last look. */
  function look(): void {
    const before = running;
    running = runningOf(clients);
    if (!isProbing && stillRunning(before, running).length > 0) void probe(running);
  }

  async function probe(since: Statements): Promise<void> {
    isProbing = true;
    const error = await whySilent(pool, silenceMilliseconds);
    isProbing = false;
    if (error === null) return;
    for (const client of stillRunning(since, runningOf(clients))) close(client, new DatabaseUnavailable(error));
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
type Statements = ReadonlyMap<pg.PoolClient, unknown>;

/** Node-postgres has no other way to find out. */
function runningOf(clients: Iterable<pg.PoolClient>): Statements {
  const statements = new Map<pg.PoolClient, unknown>();
  for (const client of clients) {
    const statement = "_activeQuery" in client ? client._activeQuery : null;
    if (typeof statement === "object" && statement !== null && !isCommit(statement)) statements.set(client, statement);
  }
  return statements;
}

const isCommit = (statement: object): boolean =>
  "text" in statement && typeof statement.text === "string" && /^\s*commit\b/i.test(statement.text);

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

function close(client: pg.PoolClient, error: Error): void {
  if ("connection" in client && client.connection instanceof pg.Connection) client.connection.stream.destroy(error);
}
