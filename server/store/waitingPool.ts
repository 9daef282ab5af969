/** A pool of connections that waits while PostgreSQL can't be reached, and repeats reads whose connection was lost. */
import pg from "pg";
import { DatabaseUnavailable, isConnectionLost, markFinal, repeatRead } from "./outages.ts";
import { closeSilentConnections, tryConnection } from "./silence.ts";

type Connected = Extract<Parameters<pg.Pool["connect"]>[0], (...given: never) => void>;

const firstPause = 20;
const maxPause = 250;
/** A server that is stopped accepts connections and does not answer. */
const probeMilliseconds = 2_000;
/** Between two looks at running statements. */
const maxInterval = 1_000;
/** The pool's own error if all connections are in use for too long. */
const busyMessage = "timeout exceeded when trying to connect";

interface WaitingPoolConfig extends pg.PoolConfig {
  readonly waitMilliseconds: number;
}

export class WaitingPool extends pg.Pool {
  readonly #waitMilliseconds: number;
  /** Until a connection has succeeded, errors mean wrong settings rather than a restart. */
  #hasConnected = false;
  #isStopping = false;
  #isProbing = false;
  /** End the waits for a connection. */
  readonly #waiters = new Set<() => void>();

  constructor({ waitMilliseconds, ...config }: WaitingPoolConfig) {
    super(config);
    this.#waitMilliseconds = waitMilliseconds;
    this.on("connect", () => {
      this.#hasConnected = true;
    });
    repeatReads(this);
    closeSilentConnections(this, {
      silenceMilliseconds: waitMilliseconds,
      intervalMilliseconds: Math.min(maxInterval, waitMilliseconds),
    });
  }

  /** Rejects with `DatabaseUnavailable` after `waitMilliseconds`. */
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    if (callback !== undefined) {
      this.#connectUntil(performance.now() + this.#waitMilliseconds, callback);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.connect((error, client) => (client === undefined ? reject(error) : resolve(client)));
    });
  }

  /** Ends all waiting, also later on, because the process stops. */
  stopWaiting(): void {
    this.#isStopping = true;
    for (const leave of this.#waiters) leave();
  }

  #connectUntil(deadline: number, callback: Connected): void {
    const isOver = () => this.#isStopping || performance.now() >= deadline;
    const attempt = () =>
      super.connect((error, client, done) => {
        if (!error) return callback(error, client, done);
        if (error.message === busyMessage) return callback(new DatabaseUnavailable(error), undefined, done);
        if (!this.#hasConnected) return callback(markFinal(error), undefined, done);
        if (!isConnectionLost(error)) return callback(error, undefined, done);
        if (isOver()) return callback(new DatabaseUnavailable(error), undefined, done);
        void this.#untilReachable(deadline).then(attempt);
      });
    if (this.#isProbing && !isOver()) void this.#untilReachable(deadline).then(attempt);
    else attempt();
  }

  /** Resolves when the database can be reached, or at the deadline. Thousands may wait: only one connection is tried. */
  #untilReachable(deadline: number): Promise<void> {
    return new Promise((resolve) => {
      const leave = () => {
        clearTimeout(timer);
        this.#waiters.delete(leave);
        resolve();
      };
      const timer = setTimeout(leave, deadline - performance.now());
      this.#waiters.add(leave);
      if (!this.#isProbing) void this.#probe();
    });
  }

  /** Ends the waits when a connection succeeds, or fails for another reason, which the waiters find out. */
  async #probe(): Promise<void> {
    this.#isProbing = true;
    let pause = firstPause;
    do {
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(2 * pause, maxPause);
    } while (this.#waiters.size > 0 && (await this.#isUnreachable()));
    this.#isProbing = false;
    for (const leave of this.#waiters) leave();
  }

  async #isUnreachable(): Promise<boolean> {
    const error = await tryConnection({ ...this.options, connectionTimeoutMillis: probeMilliseconds });
    return isConnectionLost(error);
  }
}

/** node-postgres has no hook around a query, and its types of `query` can't be implemented without losing them. */
function repeatReads(pool: pg.Pool): void {
  const query = pool.query;
  const value = (...given: readonly unknown[]) => {
    const [statement] = given;
    const text = typeof statement === "string" ? statement : textOf(statement);
    return repeatRead(text, (): Promise<unknown> => Reflect.apply(query, pool, given));
  };
  Object.defineProperty(pool, "query", { value, configurable: true, writable: true });
}

function textOf(statement: unknown): string {
  return typeof statement === "object" && statement !== null && "text" in statement ? String(statement.text) : "";
}
