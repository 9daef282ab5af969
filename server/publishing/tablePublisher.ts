/**
 * Publishes everything that a server serves, as one table with a generation. The table is made from the database and the disk,
 * so any number of processes may publish at any time: the server ends up with the current state.
 *
 * The generation is taken before anything is read. So a table with a higher generation was read after the lower generation
 * was taken, and contains every change for which the lower one was published.
 */
import type { Logger } from "pino";
import type { Database } from "../store/database.ts";
import type { Generations } from "../store/generations.ts";

export interface TablePublisher {
  /**
   * Resolves when the server serves the state at the time of the call, or a newer one. Rejects if the server did not
   * acknowledge the table; the file that it reads at startup is still written.
   */
  publish(): Promise<void>;
  /**
   * Publishes if the server does not have the newest generation. The first call always publishes, because the previous process
   * may have been killed between a change and its publication.
   */
  reconcile(): Promise<void>;
}

interface TablePublisherOptions {
  readonly database: Database;
  readonly generations: Generations;
  /** The generation that the server has. */
  readonly status: () => Promise<{ readonly generation: number }>;
  /** Reads everything and sends it to the server. Resolves when the server has acknowledged it. */
  readonly send: (generation: number) => Promise<void>;
  /** The server's name in the log. */
  readonly server: string;
  readonly log: Logger;
}

export function makeTablePublisher(options: TablePublisherOptions): TablePublisher {
  const { database, generations, status, send, server, log } = options;
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let hasPublished = false;

  /** One run at a time. All calls during a run share the next one, which reads after them. */
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
    await send(generation);
    hasPublished = true;
  }

  return {
    publish,
    reconcile: async () => {
      const wanted = await generations.last(database);
      const { generation } = await status();
      if (hasPublished && generation === wanted) return;
      if (generation > wanted) await generations.raise(database, generation);
      log.info({ wanted, serves: generation }, `${server} may not have the newest table; publishing it again`);
      await publish();
    },
  };
}
