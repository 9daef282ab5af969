/**
 * Runs operations across restarts of PostgreSQL, without ending the process, whose clients wait meanwhile.
 *
 * An engine that has lost its lock must not run anything any more. It has told its steps to stop; as soon as all of them have, nothing
 * of it is left, and another engine with a new lock continues. If a step goes on, only the end of the process stops it.
 */
import { setTimeout as delay } from "node:timers/promises";
import { isConnectionLost, waitMilliseconds } from "../../store/outages.ts";
import { type Engine, type EngineOptions, startEngine } from "./engine.ts";

interface KeepOptions extends EngineOptions {
  /** How long steps may take to stop. Milliseconds. Absent: longer than a query waits for the database. */
  readonly graceMilliseconds?: () => number;
}

const defaultGrace = waitMilliseconds + 5_000;
/** Another process takes the operations over at its next sweep. */
const sharedGrace = 1_000;

/** How long steps may take to stop if there are so many control processes. */
export const graceFor = (processes: number): number => (processes > 1 ? sharedGrace : defaultGrace);
const retryMilliseconds = 200;

/** `lost` of the engine resolves only if a step does not stop, or another engine can't be started. */
export async function keepEngine({ graceMilliseconds = () => defaultGrace, ...options }: KeepOptions): Promise<Engine> {
  const { log } = options;
  const lost = Promise.withResolvers<Error>();
  const stopping = new AbortController();
  let engine = await startEngine(options);
  let replacing = Promise.resolve();

  async function keep(): Promise<void> {
    while (!stopping.signal.aborted) {
      const err = await engine.lost;
      if (stopping.signal.aborted) return;
      log.warn({ err }, "Operations stop until the database can be reached");
      replacing = replace(err);
      await replacing;
    }
  }

  async function replace(reason: Error): Promise<void> {
    const settled = engine.settled().then(() => true);
    if (!(await Promise.race([settled, delay(graceMilliseconds(), false, { ref: false })]))) throw reason;
    await engine.stop().catch(() => undefined);
    engine = await startAgain();
    log.info("Operations continue");
  }

  async function startAgain(): Promise<Engine> {
    for (;;) {
      try {
        return await startEngine(options);
      } catch (error) {
        if (!isConnectionLost(error)) throw error;
        await delay(retryMilliseconds, undefined, { signal: stopping.signal });
      }
    }
  }

  keep().catch((error: unknown) => lost.resolve(error instanceof Error ? error : new Error(String(error))));
  return {
    lost: lost.promise,
    sweep: () => engine.sweep(),
    settled: () => engine.settled(),
    stop: async () => {
      stopping.abort();
      await replacing.catch(() => undefined);
      await engine.stop();
    },
  };
}
