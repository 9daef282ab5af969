import { randomUUID } from "node:crypto";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openNotifications } from "../../store/notifications.ts";
import { endedChannel, endOperation, makeOperationRead } from "../../store/operations.ts";
import { useTestDatabase } from "../../testing/database.ts";
import { testOperations } from "../../testing/engine.ts";
import { makeOperationWaits } from "./wait.ts";

const own = useTestDatabase();
const definition = { kind: "addSite", steps: [], succeeded: async () => null, failed: async () => undefined };

async function end(operationId: string): Promise<void> {
  await own.database
    .transaction()
    .execute((transaction) => endOperation(transaction, operationId, { state: "succeeded", result: null }));
}

/** An operation that runs until the test ends it, and waits that count the statements that read operations. */
async function start() {
  const operations = await testOperations({ ...own, addSite: definition });
  onTestFinished(() => operations[Symbol.asyncDispose]());
  const notifications = await openNotifications({ url: own.url, channels: [endedChannel] });
  onTestFinished(() => notifications.close());
  const id = await operations.submit();
  const state = { reads: 0, ended: 0 };
  const readNow = makeOperationRead(own.pool);
  const read = (operationId: string) => {
    state.reads += 1;
    return readNow(operationId).finally(() => {
      state.ended += 1;
    });
  };
  const waits = makeOperationWaits({ read, notifications });
  const wait = (seconds = 30) => waits.untilEnded(id, seconds);
  return { id, state, waits, wait };
}

describe("a wait for an operation", () => {
  test("returns the operation when it ends", async () => {
    const { id, wait } = await start();
    const waiting = Promise.all([wait(), wait()]);
    await end(id);
    expect(await waiting).toMatchObject([{ state: "succeeded" }, { state: "succeeded" }]);
  });

  test("returns ended and unknown operations at once", async () => {
    const { id, waits, wait } = await start();
    await end(id);
    expect(await wait()).toMatchObject({ id, state: "succeeded" });
    expect(await waits.untilEnded(`sites:add-${randomUUID()}`, 30)).toBeNull();
  });

  test("returns the running operation after its time, when its client goes away, and when waits are stopped", async () => {
    const { id, waits, wait } = await start();
    expect(await wait(0.05)).toMatchObject({ state: "running" });
    const client = Promise.withResolvers<() => void>();
    const waiting = waits.untilEnded(id, 30, client.resolve);
    (await client.promise)();
    expect(await waiting).toMatchObject({ state: "running" });
    const others = [wait(), wait()];
    waits.stop();
    expect(await Promise.all([...others, wait()])).toMatchObject(Array(3).fill({ state: "running" }));
  });

  test("does not miss an end while its database connection is lost", async () => {
    const { id, wait } = await start();
    const waiting = wait();
    await own.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query like 'listen%'`,
    );
    await end(id);
    expect(await waiting).toMatchObject({ state: "succeeded" });
  });
});

describe("thousands of waits for an operation", () => {
  test("read it once at the beginning and once at the end, and get the same object", async () => {
    const { id, state, wait } = await start();
    const waiting = Array.from({ length: 5_000 }, () => wait());
    // Otherwise the first read might find the operation ended.
    await vi.waitUntil(() => state.ended === 1);
    await end(id);
    const found = await Promise.all(waiting);
    expect(new Set(found).size).toBe(1);
    expect(found[0]?.state).toBe("succeeded");
    expect(state.reads).toBe(2);
  });

  test("leave turns of the event loop to others when they end", async () => {
    const { id, wait } = await start();
    let turns = 0;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    let isOver = false;
    const [first = Promise.resolve(null), ...others] = Array.from({ length: 1_000 }, () => wait());
    const began = first.then(() => turns);
    const ended = Promise.all(others).then(() => turns);
    setImmediate(count);
    await end(id);
    const between = (await ended) - (await began);
    isOver = true;
    expect(between).toBeGreaterThan(5);
  });

  test("that no one waits for any more are forgotten", async () => {
    const { id, state, waits, wait } = await start();
    const client = Promise.withResolvers<() => void>();
    const waiting = waits.untilEnded(id, 30, client.resolve);
    const leave = await client.promise;
    leave();
    await waiting;
    expect(state.reads).toBe(2);
    // A client that was answered goes away later.
    leave();
    expect(state.reads).toBe(2);
    await end(id);
    expect(await wait()).toMatchObject({ state: "succeeded" });
  });
});
