import { describe, expect, test } from "vitest";
import { endOperation } from "../../store/operations.ts";
import { useTestDatabase } from "../../testing/database.ts";
import { type TestOperations, testOperations } from "../../testing/engine.ts";

const own = useTestDatabase();
const definition = { kind: "addSite", steps: [], succeeded: async () => null, failed: async () => undefined };

async function end(operationId: string): Promise<void> {
  await own.database
    .transaction()
    .execute((transaction) => endOperation(transaction, operationId, { state: "succeeded", result: null }));
}

async function withOperation(work: (operations: TestOperations, operationId: string) => Promise<void>): Promise<void> {
  await using operations = await testOperations({ ...own, addSite: definition });
  await work(operations, await operations.submit());
}

describe("waitForOperation", () => {
  test("resolves when the operation ends", () =>
    withOperation(async ({ wait }, id) => {
      const waiting = Promise.all([wait(id, 30), wait(id, 30)]);
      await end(id);
      expect(await waiting).toEqual([true, true]);
    }));

  test("resolves at once for ended and unknown operations", () =>
    withOperation(async ({ wait }, id) => {
      await end(id);
      expect(await wait(id, 30)).toBe(true);
      expect(await wait("sites:add-nothing", 30)).toBe(true);
    }));

  test("resolves with false at the timeout or when the client disconnects", () =>
    withOperation(async ({ wait }, id) => {
      expect(await wait(id, 0.05)).toBe(false);
      expect(await wait(id, 30, AbortSignal.timeout(50))).toBe(false);
      expect(await wait(id, 30, AbortSignal.abort())).toBe(false);
    }));

  test("does not miss an end while its database connection is lost", () =>
    withOperation(async ({ wait }, id) => {
      const waiting = wait(id, 30);
      await own.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and query like 'listen%'`,
      );
      await end(id);
      expect(await waiting).toBe(true);
    }));
});
