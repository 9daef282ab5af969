import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { useTestDatabase } from "../testing/database.ts";
import { insertTestCompany } from "../testing/engine.ts";
import { recordActivity, systemActor } from "./company/activity.ts";
import type { DatabaseTransaction } from "./database.ts";
import { lockHolder, planHandover, takeLocks, wantLocks } from "./locks.ts";
import { beginWaiting, endOperation, insertOperation, readOperation } from "./operations.ts";

const own = useTestDatabase();

async function insertTestOperation(transaction: DatabaseTransaction, state: "running" | "waiting"): Promise<string> {
  const id = `sites:add-${randomUUID()}`;
  const companyId = await insertTestCompany(transaction);
  const activityId = await recordActivity(transaction, {
    companyId,
    siteId: null,
    category: "siteActions",
    type: "addSite",
    parameters: {},
    actor: systemActor,
  });
  const rest = { siteId: null, environmentId: null, stepsTotal: 1, input: {}, secret: null, referenceId: randomUUID() };
  await insertOperation(transaction, { ...rest, id, kind: "addSite", companyId, activityId, state });
  return id;
}

/** Starts an operation and takes its locks. Returns its id, or null if a lock is not free. */
function take(environments: readonly string[]): Promise<string | null> {
  return own.database.transaction().execute(async (transaction) => {
    const id = await insertTestOperation(transaction, "running");
    return (await takeLocks(transaction, id, environments)) ? id : null;
  });
}

function queue(environments: readonly string[]): Promise<string> {
  return own.database.transaction().execute(async (transaction) => {
    const id = await insertTestOperation(transaction, "waiting");
    await wantLocks(transaction, id, environments);
    return id;
  });
}

function end(operationId: string): Promise<void> {
  return own.database
    .transaction()
    .execute((transaction) => endOperation(transaction, operationId, { state: "succeeded", result: null }));
}

async function stateOf(operationId: string) {
  return (await readOperation(own.database, operationId))?.state;
}

/** Throws if a lock is not free. */
async function mustTake(environments: readonly string[]): Promise<string> {
  const id = await take(environments);
  if (id === null) throw new Error("The locks are not free");
  return id;
}

describe("planHandover", () => {
  const waiting = (operationId: string, ...wants: string[]) => ({ operationId, wants });
  const plan = (list: ReturnType<typeof waiting>[], ...locked: string[]) =>
    planHandover(list, new Set(locked)).map(({ operationId }) => operationId);

  test.each([
    ["the longest waiting operation starts", [waiting("1", "a"), waiting("2", "a")], [], ["1"]],
    ["operations on different environments start together", [waiting("1", "a"), waiting("2", "b")], [], ["1", "2"]],
    ["no operation starts on a locked environment", [waiting("1", "a")], ["a"], []],
    ["an operation needs all its locks", [waiting("1", "a", "b")], ["b"], []],
    [
      "no operation overtakes an earlier one that waits for more locks",
      [waiting("1", "a", "b"), waiting("2", "a")],
      ["b"],
      [],
    ],
    ["operations on other environments start", [waiting("1", "a", "b"), waiting("2", "c")], ["b"], ["2"]],
  ])("%s", (_, list, locked, expected) => {
    expect(plan(list, ...locked)).toEqual(expected);
  });
});

describe("locks", () => {
  test("all locks are taken, or none", async () => {
    const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
    const first = await mustTake([b]);
    expect(await take([a, b, c])).toBeNull();
    expect(await lockHolder(own.database, a)).toBeNull();
    expect(await lockHolder(own.database, b)).toBe(first);
  });

  test("exactly one of many simultaneous operations gets a lock", async () => {
    const environment = randomUUID();
    const taken = await Promise.all(Array.from({ length: 8 }, () => take([environment])));
    expect(taken.filter((id) => id !== null)).toEqual([await lockHolder(own.database, environment)]);
  });

  test("operations that want the same locks in another order do not deadlock", async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    const taken = await Promise.all(Array.from({ length: 8 }, (_, index) => take(index % 2 ? [a, b] : [b, a])));
    expect(taken.filter((id) => id !== null).length).toBe(1);
  });

  test("the end of an operation hands its locks to the longest waiting one", async () => {
    const environment = randomUUID();
    const first = await mustTake([environment]);
    const second = await queue([environment]);
    const third = await queue([environment]);
    await end(first);
    expect([await stateOf(second), await stateOf(third)]).toEqual(["running", "waiting"]);
    expect(await lockHolder(own.database, environment)).toBe(second);
    await end(second);
    expect(await stateOf(third)).toBe("running");
    await end(third);
    expect(await lockHolder(own.database, environment)).toBeNull();
  });

  test("a later operation does not overtake one that waits for more locks", async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    const first = await mustTake([a]);
    const wholeSite = await queue([a, b]);
    expect(await take([b])).toBeNull();
    await end(first);
    expect(await lockHolder(own.database, b)).toBe(wholeSite);
    await end(wholeSite);
  });

  test("the reconciler starts an operation that waits for free locks", async () => {
    const lost = await queue([randomUUID()]);
    const begun = await own.database.transaction().execute(beginWaiting);
    expect(begun).toContain(lost);
    expect(await stateOf(lost)).toBe("running");
  });

  test("an operation ends once: a second end changes nothing", async () => {
    const id = await mustTake([randomUUID()]);
    await end(id);
    await own.database
      .transaction()
      .execute((transaction) => endOperation(transaction, id, { state: "failed", publicError: "late" }));
    expect(await readOperation(own.database, id)).toMatchObject({ state: "succeeded", public_error: null });
  });
});
