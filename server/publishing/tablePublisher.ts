/**
 * Tells a server the whole of what it should serve, as one table with a generation. Takes no input: what is to be served is in
 * the database and on disk, and any number of calls at any time, by any number of processes, end with the server serving it.
 *
 * The generation is taken before anything is read. So a table with a higher generation was read later than one
 * with a lower was numbered, and has every change for which the lower was made.
 */
import type { Logger } from "pino";
import type { Database } from "../store/database.ts";
import type { Generations } from "../store/generations.ts";

export interface TablePublisher {
  /**
   * Resolves when the server serves what was in the database and on disk when this was called, or something newer.
   * Rejects if the server did not acknowledge it; the file that it begins with is written all the same.
   */
  publish(): Promise<void>;
  /**
   * Publishes where the server has another generation than the newest; and once in any case: the process before may have been
   * killed between a change and its publication.
   */
  reconcile(): Promise<void>;
}

export interface TablePublisherOptions {
  readonly database: Database;
  readonly generations: Generations;
  /** What the server has. */
  readonly status: () => Promise<{ readonly generation: number }>;
  /** Reads everything and hands it over; resolves when it is acknowledged. */
  readonly tell: (generation: number) => Promise<void>;
  /** The server's name in the log. */
  readonly server: string;
  readonly log: Logger;
}

export function makeTablePublisher(options: TablePublisherOptions): TablePublisher {
  const { database, generations, status, tell, server, log } = options;
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let hasPublished = false;

  /** One at a time; all who ask while one runs share the next, which reads after they asked. */
  function publish(): Promise<void> {
    if (next) return next;
    if (!current) return start();
    next = current.then(start, start);
    return next;
  }

  function start(): Promise<void> {
    next = undefined;
    const run = publishOnce().finally(() => {
      if (current === run) current = undefined;
    });
    current = run;
    return run;
  }

  async function publishOnce(): Promise<void> {
    const generation = await generations.next(database);
    await generations.awaitAnnounced(database);
    await tell(generation);
    hasPublished = true;
  }

  return {
    publish,
    reconcile: async () => {
      const wanted = await generations.last(database);
      const { generation } = await status();
      if (hasPublished && generation === wanted) return;
      if (generation > wanted) await generations.raise(database, generation);
      log.info({ wanted, serves: generation }, `${server} may not have the newest table; it is told again`);
      await publish();
    },
  };
}
