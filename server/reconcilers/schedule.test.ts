import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { systemActor } from "../store/company/activity.ts";
import { readOperation } from "../store/operations.ts";
import { insertRollout } from "../store/packages/rollouts.ts";
import { addApiKey, addCompany } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { insertTestCompany, silentLog, testOperations } from "../testing/engine.ts";
import { expire } from "./expire.ts";
import { startReconcilers } from "./schedule.ts";

const own = useTestDatabase();

describe("the schedule", () => {
  test("runs each at once and repeatedly, one run at a time, and continues after a failure", async () => {
    let runs = 0;
    let running = 0;
    const run = async () => {
      expect(++running).toBe(1);
      await delay(2);
      running--;
      if (++runs === 2) throw new Error("once");
    };
    const schedule = startReconcilers(
      [{ name: "test", work: "Testing", everySeconds: 0.001, retrySeconds: 0.001, run }],
      silentLog,
    );
    await expect.poll(() => runs).toBeGreaterThan(4);
    await schedule.stop();
    const after = runs;
    await delay(20);
    expect(runs).toBe(after);
  });

  test("waits for the current run when it is stopped", async () => {
    const go = Promise.withResolvers<void>();
    let ended = false;
    const run = async () => {
      await go.promise;
      ended = true;
    };
    const schedule = startReconcilers(
      [{ name: "test", work: "Testing", everySeconds: 1, retrySeconds: 1, run }],
      silentLog,
    );
    const stopping = schedule.stop();
    go.resolve();
    await stopping;
    expect(ended).toBe(true);
  });
});

describe("expire", () => {
  test("removes old operations with their journals, and nothing else", async () => {
    const definition = { kind: "addSite", steps: [], succeeded: async () => null, failed: async () => undefined };
    await using operations = await testOperations({ ...own, addSite: definition });
    const [old, recent, running] = [await operations.submit(), await operations.submit(), await operations.submit()];
    const end = (id: string, days: number) =>
      own.database
        .updateTable("operations")
        .set({ state: "succeeded", finished_at: new Date(Date.now() - days * 86_400_000) })
        .where("id", "=", id)
        .execute();
    await end(old, 31);
    await end(recent, 8);
    await own.database
      .insertInto("operation_outcomes")
      .values([old, recent].map((id) => ({ operation_id: id, part: "run one", outcome: '"done"', milliseconds: 1 })))
      .execute();
    await expire(own.database);
    expect(await own.database.selectFrom("operation_outcomes").select("operation_id").execute()).toEqual([
      { operation_id: recent },
    ]);
    expect(await readOperation(own.database, old)).toBeNull();
    expect(await readOperation(own.database, recent)).not.toBeNull();
    expect(await readOperation(own.database, running)).not.toBeNull();
  });

  test("removes old rollouts, and nothing else", async () => {
    const companyId = await insertTestCompany(own.database);
    const add = async (daysSinceEnd: number | null) => {
      const id = randomUUID();
      const rollout = { id, companyId, kind: "plugin", name: "shop", version: null, actor: systemActor } as const;
      const counts = { concurrency: 4, canaries: 1, stopAfterFailures: 1, environmentIds: [] };
      await own.database.transaction().execute((transaction) => insertRollout(transaction, { ...rollout, ...counts }));
      if (daysSinceEnd === null) return id;
      const ended_at = new Date(Date.now() - daysSinceEnd * 86_400_000);
      await own.database.updateTable("rollouts").set({ state: "ended", ended_at }).where("id", "=", id).execute();
      return id;
    };
    const [, recent, underWay] = [await add(31), await add(29), await add(null)];
    await expire(own.database);
    const left = await own.database.selectFrom("rollouts").select("id").execute();
    expect(left.map(({ id }) => id).toSorted()).toEqual([recent, underWay].toSorted());
  });

  test("removes API keys 400 days after they ended, and no others", async () => {
    const owner = await addCompany(own.database);
    const at = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000);
    const [, recent] = [
      await addApiKey(own.database, owner, { expiresAt: at(401) }),
      await addApiKey(own.database, owner, { expiresAt: at(399) }),
    ];
    await expire(own.database);
    const left = own.database.selectFrom("api_keys").select("id").where("company_id", "=", owner.companyId);
    expect(await left.execute()).toEqual([{ id: recent.id }]);
  });

  test("removes idempotency keys after a day", async () => {
    const companyId = randomUUID();
    const userId = randomUUID();
    const keyId = randomUUID();
    const user = { email: `${userId}@example.com`, full_name: "A", first_name: "A", password_hash: "" };
    await own.database.insertInto("companies").values({ id: companyId, name: "Test" }).execute();
    await own.database
      .insertInto("users")
      .values({ ...user, id: userId, company_id: companyId, role: "owner" })
      .execute();
    await own.database
      .insertInto("api_keys")
      .values({
        id: keyId,
        company_id: companyId,
        user_id: userId,
        name: "k",
        secret_hash: Buffer.alloc(32),
        scopes: null,
      })
      .execute();
    const row = { api_key_id: keyId, request_hash: Buffer.alloc(32), status: 202, body: "{}" };
    const hours = (count: number) => new Date(Date.now() - count * 3_600_000);
    await own.database
      .insertInto("idempotency_keys")
      .values([
        { ...row, key: "old", created_at: hours(25) },
        { ...row, key: "new", created_at: hours(23) },
      ])
      .execute();
    await expire(own.database);
    const left = await own.database.selectFrom("idempotency_keys").select("key").execute();
    expect(left).toEqual([{ key: "new" }]);
  });
});
