import { afterEach, expect, test } from "vitest";
import type { Json } from "../../store/database.ts";
import { useTestDatabase } from "../../testing/database.ts";
import { silentLog, testBackoffs, testOperations } from "../../testing/engine.ts";
import type { Engine } from "./engine.ts";
import { keepEngine } from "./keepEngine.ts";
import type { AnyDefinition, Step } from "./operation.ts";

const own = useTestDatabase();
let engine: Engine | undefined;

afterEach(async () => {
  await engine?.stop();
  engine = undefined;
});

/** An operation with one step, and an engine that is kept. `run` gets the number of the attempt. */
async function begin(run: (attempt: number, signal: AbortSignal) => Promise<void>, graceMilliseconds?: number) {
  let attempts = 0;
  const step: Step<Json> = {
    name: "one",
    deadlineSeconds: 30,
    run: async ({ signal }) => {
      attempts += 1;
      await run(attempts, signal);
    },
  };
  const end = { succeeded: async () => null, failed: async () => undefined };
  const addSite: AnyDefinition = { kind: "addSite", steps: [step], ...end };
  const operations = await testOperations({ ...own, addSite });
  engine = await keepEngine({
    ...own,
    ...operations,
    definitions: [addSite],
    log: silentLog,
    backoffs: testBackoffs,
    ...(graceMilliseconds !== undefined && { graceMilliseconds: () => graceMilliseconds }),
  });
  return { operations, engine };
}

/** Ends the connections that hold locks of engines. */
async function loseLocks(): Promise<void> {
  await own.pool.query(
    `select pg_terminate_backend(pid) from pg_locks
     where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
  );
}

test("after its lock was lost, another engine of the process continues the operation", async () => {
  const reached = Promise.withResolvers<void>();
  const { operations } = await begin(async (attempt, signal) => {
    if (attempt > 1) return;
    reached.resolve();
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  const id = await operations.submit();
  await reached.promise;
  await loseLocks();
  expect((await operations.finish(id)).state).toBe("succeeded");
  await loseLocks();
  expect((await operations.finish(await operations.submit())).state).toBe("succeeded");
});

test("the engine is lost if a step does not stop, so that its process is replaced", async () => {
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const { operations, engine: kept } = await begin(async () => {
    reached.resolve();
    await go.promise;
  }, 50);
  await operations.submit();
  await reached.promise;
  await loseLocks();
  expect((await kept.lost).message).toMatch(/connection/i);
  go.resolve();
});
