/** The guarantees of the engine, each tested with a real database. */
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expire } from "../../reconcilers/expire.ts";
import { systemActor } from "../../store/company/activity.ts";
import type { Json } from "../../store/database.ts";
import { createTestDatabase, type TestDatabase } from "../../testing/database.ts";
import { insertTestCompany, type TestOperations, testOperations } from "../../testing/engine.ts";
import type { Engine } from "./engine.ts";
import { diskFullReason } from "./failures.ts";
import { type AnyDefinition, type Step, StepFailure } from "./operation.ts";

let own: TestDatabase;
let operations: TestOperations | undefined;
let engine: Engine | undefined;
/** What steps and undos did, in order. */
let done: string[];

beforeEach(async () => {
  own = await createTestDatabase();
  done = [];
});
afterEach(async () => {
  await engine?.stop();
  await operations?.[Symbol.asyncDispose]();
  engine = undefined;
  operations = undefined;
  await own.drop();
});

type Work = (context: { readonly operationId: string; readonly signal: AbortSignal; secret(): string }) => unknown;

function step(name: string, work: Work = () => undefined, more: Partial<Step<Json>> = {}): Step<Json> {
  return {
    name,
    deadlineSeconds: 10,
    run: async (context) => {
      done.push(name);
      await work(context);
    },
    undo: async () => {
      done.push(`undo ${name}`);
    },
    ...more,
  };
}

function define(steps: readonly Step<Json>[], more: Partial<AnyDefinition> = {}): AnyDefinition {
  return {
    kind: "addSite",
    steps,
    succeeded: async () => ({ well: true }),
    failed: async () => undefined,
    ...more,
  };
}

async function begin(definition: AnyDefinition, options: Parameters<TestOperations["startEngine"]>[0] = {}) {
  operations = await testOperations({ ...own, addSite: definition });
  engine = await operations.startEngine(options);
  return operations;
}

async function activityOf(operationId: string) {
  return own.database
    .selectFrom("activity")
    .innerJoin("operations", "operations.activity_id", "activity.id")
    .select(["is_done", "has_failed", "activity.public_error"])
    .where("operations.id", "=", operationId)
    .executeTakeFirstOrThrow();
}

async function locks() {
  return own.database.selectFrom("environment_locks").selectAll().execute();
}

const environment = "11111111-1111-4111-8111-111111111111";

describe("a successful operation", () => {
  test("runs each step once and in order, and ends its activity entry and its locks in the same transaction", async () => {
    const ops = await begin(define([step("one"), step("two"), step("three")]));
    const row = await ops.finish(await ops.submit({ locks: [environment], secret: "hush" }));
    expect(done).toEqual(["one", "two", "three"]);
    expect(row).toMatchObject({ state: "succeeded", steps_done: 3, step: null, secret: null, result: { well: true } });
    expect(await activityOf(row.id)).toEqual({ is_done: true, has_failed: false, public_error: null });
    expect(await locks()).toEqual([]);
  });

  test("is started by the commit that accepts it, without a sweep", async () => {
    const ops = await begin(define([step("one")]), { sweepMilliseconds: 3_600_000 });
    const { state } = await ops.finish(await ops.submit());
    expect(state).toBe("succeeded");
  });

  test("shows its progress", async () => {
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const hold = () => {
      reached.resolve();
      return go.promise;
    };
    const ops = await begin(define([step("one"), step("two", hold)]));
    const id = await ops.submit();
    await reached.promise;
    const row = await own.database.selectFrom("operations").selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({ state: "running", step: "two", steps_done: 1, steps_total: 2 });
    expect(row.started_at).not.toBeNull();
    go.resolve();
    await ops.finish(id);
  });

  test("gives its steps the secret, which is encrypted in the database", async () => {
    const seen: string[] = [];
    const ops = await begin(define([step("one", ({ secret }) => seen.push(secret()))]));
    await engine?.stop();
    const id = await ops.submit({ secret: "open sesame" });
    const { secret } = await own.database.selectFrom("operations").select("secret").executeTakeFirstOrThrow();
    expect(secret?.includes("sesame")).toBe(false);
    engine = await ops.startEngine();
    await ops.finish(id);
    expect(seen).toEqual(["open sesame"]);
  });
});

describe("a failed operation", () => {
  test("undoes the started steps in reverse order, and shows the reason", async () => {
    const fails = () => {
      throw new StepFailure("There is no room.");
    };
    const ops = await begin(define([step("one"), step("two", fails), step("three")]));
    const row = await ops.finish(await ops.submit({ locks: [environment], secret: "hush" }));
    expect(done).toEqual(["one", "two", "undo two", "undo one"]);
    expect(row).toMatchObject({ state: "failed", public_error: "There is no room.", secret: null });
    expect(await activityOf(row.id)).toEqual({ is_done: true, has_failed: true, public_error: "There is no room." });
    expect(await locks()).toEqual([]);
  });

  test.each([
    ["a refused request", new StepFailure("No.", { kind: "refused" }), "refused"],
    ["a superseded request", new StepFailure("No.", { kind: "superseded" }), "superseded"],
    ["a failure without a kind", new StepFailure("No."), null],
    ["an unexpected error", new Error("No."), null],
  ])("passes the kind of %s to `failed`, and stores it", async (_, error, kind) => {
    const fails = () => {
      throw error;
    };
    const failures: unknown[] = [];
    const failed: AnyDefinition["failed"] = async (_transaction, _context, failure) => {
      failures.push(failure);
    };
    const ops = await begin(define([step("one", fails)], { failed }));
    const { failure_kind } = await ops.finish(await ops.submit());
    expect([failures, failure_kind]).toEqual([[kind], kind]);
  });

  test("hides messages that were not written for users, and shows the reference id of the log", async () => {
    const fails = () => {
      throw new Error("password=hunter2 at /srv/secret");
    };
    const ops = await begin(define([step("one", fails)]));
    const row = await ops.finish(await ops.submit());
    expect(row.public_error).not.toContain("hunter2");
    expect(row.public_error).toContain(row.reference_id);
  });

  test("tells that the disk is full", async () => {
    const fails = () => {
      throw new Error("copy failed", { cause: Object.assign(new Error("write"), { code: "ENOSPC" }) });
    };
    const ops = await begin(define([step("one", fails)]));
    expect((await ops.finish(await ops.submit())).public_error).toBe(diskFullReason);
  });

  test("retries transient errors", async () => {
    let tries = 0;
    const fails = () => {
      if (++tries < 4) throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    };
    const ops = await begin(define([step("one", fails)]));
    expect((await ops.finish(await ops.submit())).state).toBe("succeeded");
    expect(tries).toBe(4);
  });

  test("aborts a step at its deadline, and undoes it only when it has ended", async () => {
    const hangs: Work = async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await delay(200);
      done.push("two has ended");
    };
    const ops = await begin(define([step("one"), step("two", hangs, { deadlineSeconds: 0.2 })]));
    const row = await ops.finish(await ops.submit());
    expect(row.public_error).toContain("took longer than 0.2 seconds");
    expect(done).toEqual(["one", "two", "two has ended", "undo two", "undo one"]);
  });

  test("retries an undo until it succeeds", async () => {
    let tries = 0;
    const undo = async () => {
      if (++tries < 4) throw new Error("not yet");
    };
    const fails = () => {
      throw new StepFailure("No.");
    };
    const ops = await begin(define([step("one", undefined, { undo }), step("two", fails)]));
    expect((await ops.finish(await ops.submit())).state).toBe("failed");
    expect(tries).toBe(4);
  });

  test("undoes every step if its end can't be written", async () => {
    const succeeded = async () => {
      throw new Error("a constraint");
    };
    const ops = await begin(define([step("one"), step("two")], { succeeded }));
    expect((await ops.finish(await ops.submit())).state).toBe("failed");
    expect(done).toEqual(["one", "two", "undo two", "undo one"]);
  });

  test("retries steps after the point of no return until they succeed", async () => {
    let tries = 0;
    const fails = () => {
      if (++tries < 4) throw new Error("not yet");
    };
    const ops = await begin(define([step("one"), step("two", fails), step("three")], { pointOfNoReturn: "two" }));
    expect((await ops.finish(await ops.submit())).state).toBe("succeeded");
    expect(done.filter((name) => name.startsWith("undo"))).toEqual([]);
    expect(tries).toBe(4);
  });
});

describe("the lock of an environment", () => {
  test("makes a second operation fail at once with the message of the API", async () => {
    const go = Promise.withResolvers<void>();
    const ops = await begin(define([step("one", () => go.promise)]));
    const companyId = await insertTestCompany(own.database);
    const first = await ops.submit({ companyId, locks: [environment] });
    const second = await ops.finish(await ops.submit({ companyId, locks: [environment] }));
    expect(second).toMatchObject({
      state: "failed",
      public_error: "The environment is blocked by another process. Please try again a bit later.",
    });
    expect((await activityOf(second.id)).has_failed).toBe(true);
    go.resolve();
    expect((await ops.finish(first)).state).toBe("succeeded");
    expect(done).toEqual(["one"]);
  });

  test("runs queued operations one at a time, in the order of their requests", async () => {
    let running = 0;
    const order: string[] = [];
    const work: Work = async ({ operationId }) => {
      expect(++running).toBe(1);
      order.push(operationId);
      await delay(5);
      running--;
    };
    const ops = await begin(define([step("one", work)]));
    const companyId = await insertTestCompany(own.database);
    const ids: string[] = [];
    for (let index = 0; index < 8; index++) {
      ids.push(await ops.submit({ companyId, locks: [environment], whenBusy: "queue" }));
    }
    for (const id of ids) expect((await ops.finish(id)).state).toBe("succeeded");
    expect(order).toEqual(ids);
    expect(await locks()).toEqual([]);
  });

  test("does not block operations of other environments", async () => {
    const both = Promise.withResolvers<void>();
    let running = 0;
    const work: Work = () => {
      if (++running === 2) both.resolve();
      return both.promise;
    };
    const ops = await begin(define([step("one", work)]));
    const other = environment.replaceAll("1", "2");
    const ids = [await ops.submit({ locks: [environment] }), await ops.submit({ locks: [other] })];
    for (const id of ids) expect((await ops.finish(id)).state).toBe("succeeded");
  });
});

describe("acceptance", () => {
  test("leaves nothing and runs nothing if the transaction is rolled back", async () => {
    const ops = await begin(define([step("one")]));
    const companyId = await insertTestCompany(own.database);
    const rolledBack = own.database.transaction().execute(async (transaction) => {
      await ops.accept(transaction, {
        kind: "addSite",
        companyId,
        siteId: null,
        environmentId: null,
        locks: [environment],
        input: {},
        whenBusy: "fail",
        actor: systemActor,
        activityParameters: {},
      });
      throw new Error("changed my mind");
    });
    await expect(rolledBack).rejects.toThrow("changed my mind");
    await engine?.sweep();
    expect(await own.database.selectFrom("operations").selectAll().execute()).toEqual([]);
    expect(await locks()).toEqual([]);
    expect(done).toEqual([]);
  });

  test("works without an engine: the next engine starts the operations", async () => {
    const ops = await begin(define([step("one")]));
    await engine?.stop();
    const ids = [await ops.submit(), await ops.submit()];
    engine = await ops.startEngine();
    for (const id of ids) expect((await ops.finish(id)).state).toBe("succeeded");
    expect(done).toEqual(["one", "one"]);
  });
});

describe("operations that use much of the machine", () => {
  const begun: (string | null)[] = [];
  /** Its second step notes the company, and ends when the test says so. */
  function heavy() {
    begun.length = 0;
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const run: Step<Json>["run"] = async ({ companyId }) => {
      begun.push(companyId);
      await isOver;
    };
    return { definition: define([step("one"), step("two", undefined, { run })], { turnFrom: "two" }), end };
  }

  test("are limited in number, and companies take turns", async () => {
    const { definition, end } = heavy();
    const ops = await begin(definition, { concurrency: 1 });
    const [busy, other] = [await insertTestCompany(own.database), await insertTestCompany(own.database)];
    const ids = [await ops.submit({ companyId: busy })];
    await expect.poll(() => begun).toEqual([busy]);
    for (let more = 0; more < 3; more += 1) ids.push(await ops.submit({ companyId: busy }));
    await expect.poll(() => done.filter((name) => name === "one")).toHaveLength(4);
    ids.push(await ops.submit({ companyId: other }));
    // Another company's does not wait for a long queue.
    await expect.poll(() => begun).toEqual([busy, other]);
    end();
    for (const id of ids) expect((await ops.finish(id)).state).toBe("succeeded");
    expect(begun).toHaveLength(5);
  });

  test("wait without a deadline, and do not keep the process from stopping", async () => {
    const { definition, end } = heavy();
    const ops = await begin(definition, { concurrency: 1 });
    const companyId = await insertTestCompany(own.database);
    const ids = [await ops.submit({ companyId }), await ops.submit({ companyId })];
    await expect.poll(() => done.filter((name) => name === "one")).toHaveLength(2);
    await engine?.stop();
    engine = await ops.startEngine({ concurrency: 1 });
    end();
    for (const id of ids) expect((await ops.finish(id)).state).toBe("succeeded");
  });

  test("must name a step that exists", async () => {
    await expect(begin(define([step("one")], { turnFrom: "won" }))).rejects.toThrow("addSite has no step won");
  });

  test("end their turn when they fail", async () => {
    const fails = () => {
      throw new StepFailure("There is no room.");
    };
    const ops = await begin(define([step("one", fails)], { turnFrom: "one" }), { concurrency: 1 });
    const companyId = await insertTestCompany(own.database);
    for (let count = 0; count < 3; count += 1) {
      expect((await ops.finish(await ops.submit({ companyId }))).state).toBe("failed");
    }
  });
});

describe("the journal", () => {
  test("is removed with its operation", async () => {
    const ops = await begin(define([step("one")]));
    const { id } = await ops.finish(await ops.submit());
    const journal = () => own.database.selectFrom("operation_outcomes").select(["operation_id", "part"]).execute();
    expect(await journal()).toEqual([{ operation_id: id, part: "run one" }]);
    const old = new Date(Date.now() - 60 * 86_400_000);
    await own.database.updateTable("operations").set({ finished_at: old }).execute();
    await expire(own.database);
    expect(await journal()).toEqual([]);
    expect(await ops.waits.read(id)).toBeNull();
  });

  test("an operation of an unknown kind is left to a process that knows it", async () => {
    const ops = await begin(define([step("one")]), { definitions: [] });
    const id = await ops.submit();
    await expect
      .poll(() => own.database.selectFrom("operations").select("runner").execute())
      .toEqual([{ runner: null }]);
    const other = await ops.startEngine();
    expect((await ops.finish(id)).state).toBe("succeeded");
    expect(done).toEqual(["one"]);
    await other.stop();
  });
});

describe("several engines on one database", () => {
  test("run each operation once", async () => {
    const ops = await begin(define([step("one")]));
    const other = await ops.startEngine();
    const ids: string[] = [];
    for (let count = 0; count < 20; count++) ids.push(await ops.submit());
    for (const id of ids) expect((await ops.finish(id)).state).toBe("succeeded");
    expect(done.length).toBe(20);
    await other.stop();
  });

  test("an engine that has lost its lock records nothing, and another engine continues its operations", async () => {
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    let runs = 0;
    const work: Work = async () => {
      runs += 1;
      if (runs > 1) return;
      reached.resolve();
      await go.promise;
      done.push("the first one's work");
    };
    const ops = await begin(define([step("one", work), step("two")]));
    const id = await ops.submit();
    await reached.promise;
    await own.pool.query(
      `select pg_terminate_backend(pid) from pg_locks
       where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
    );
    await engine?.lost;
    const other = await ops.startEngine();
    expect((await ops.finish(id)).state).toBe("succeeded");
    go.resolve();
    await engine?.stop();
    expect(done).toEqual(["one", "one", "two", "the first one's work"]);
    const parts = await own.database.selectFrom("operation_outcomes").select("part").orderBy("part").execute();
    expect(parts).toEqual([{ part: "run one" }, { part: "run two" }]);
    await other.stop();
  });

  test("an operation that was claimed but not started is resumed by the same process", async () => {
    const ops = await begin(define([step("one")]), { sweepMilliseconds: 3_600_000 });
    const first = await ops.finish(await ops.submit());
    // Until then, the engine counts the operation as running.
    await engine?.settled();
    const { runner } = await own.database.selectFrom("operations").select("runner").executeTakeFirstOrThrow();
    // Simulates that the claim was written but its confirmation was lost.
    await own.database
      .updateTable("operations")
      .set({ state: "running", finished_at: null })
      .where("id", "=", first.id)
      .execute();
    await own.database.deleteFrom("operation_outcomes").execute();
    expect(runner).not.toBeNull();
    await engine?.sweep();
    expect((await ops.finish(first.id)).state).toBe("succeeded");
    expect(done).toEqual(["one", "one"]);
  });
});

describe("stopping", () => {
  test("aborts the running step, and the next engine repeats that step", async () => {
    const reached = Promise.withResolvers<void>();
    let mayEnd = false;
    const work: Work = ({ signal }) => {
      reached.resolve();
      if (mayEnd) return undefined;
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    const ops = await begin(define([step("one"), step("two", work), step("three")]));
    const id = await ops.submit();
    await reached.promise;
    await engine?.stop();
    mayEnd = true;
    engine = await ops.startEngine();
    expect((await ops.finish(id)).state).toBe("succeeded");
    expect(done).toEqual(["one", "two", "two", "three"]);
  });

  test("does not count as a failed attempt of the step", async () => {
    let reached = Promise.withResolvers<void>();
    let mayEnd = false;
    const work: Work = ({ signal }) => {
      reached.resolve();
      if (mayEnd) return undefined;
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    const ops = await begin(define([step("one", work)]), { maxAttempts: 2 });
    const id = await ops.submit();
    for (let restart = 0; restart < 3; restart++) {
      await reached.promise;
      reached = Promise.withResolvers();
      await engine?.stop();
      mayEnd = restart === 2;
      engine = await ops.startEngine({ maxAttempts: 2 });
    }
    expect((await ops.finish(id)).state).toBe("succeeded");
  });
});
