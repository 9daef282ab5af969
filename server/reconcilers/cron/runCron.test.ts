/** Which runs start, how many at once, and what is recorded of them. The runtime and the edge are test doubles. */
import type { EnvironmentRef, NextEvents } from "@sitewright/runtimes/runtime.ts";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import type { TaskOrder, TaskResult } from "../../clients/edgeClient.ts";
import { findCronRun } from "../../store/sites/cronRuns.ts";
import { addCompany, addSite } from "../../store/testing/rows.ts";
import { createTestDatabase } from "../../testing/database.ts";
import { type CronOptions, makeCron } from "./runCron.ts";

const ok = { ran: 1, failed: [], isCutShort: false };

async function openWorld(sites: number, more: Partial<CronOptions> = {}) {
  const own = await createTestDatabase();
  const { companyId } = await addCompany(own.database);
  const ids: string[] = [];
  for (let count = 0; count < sites; count += 1) ids.push((await addSite(own.database, companyId)).environmentId);

  const due = new Map<string, number>(ids.map((id, index) => [id, index]));
  const problems = new Map<string, string>();
  const lines: Record<string, unknown>[] = [];
  const under: { readonly order: TaskOrder; readonly answer: (body: object) => void }[] = [];
  const orders: string[] = [];
  // Well after the creation of the sites.
  const clock = { now: Date.now() + 600_000 };
  const options: CronOptions = {
    database: own.database,
    runtime: {
      nextEvents: async (all: readonly EnvironmentRef[]) =>
        new Map<string, NextEvents>(
          all.map(({ id }) => {
            const dueAt = due.get(id);
            const events = dueAt === undefined ? [] : [{ place: null, dueAt }];
            return [id, { events, problem: problems.get(id) ?? null }];
          }),
        ),
    },
    edge: {
      runTask: (order, signal) => {
        orders.push(order.environmentId);
        const { promise, resolve, reject } = Promise.withResolvers<TaskResult>();
        signal?.addEventListener("abort", () => reject(new Error("aborted")));
        const end = () => under.splice(under.indexOf(entry), 1);
        const entry = {
          order,
          answer: (body: object) => {
            end();
            resolve({ status: 200, body: JSON.stringify(body), errors: "", reason: null });
          },
        };
        under.push(entry);
        return promise;
      },
    },
    hostOf: ({ host }) => `${host}:8081`,
    concurrency: 2,
    log: pino({}, { write: (line: string) => lines.push(JSON.parse(line)) }),
    now: () => clock.now,
    ...more,
  };
  const cron = makeCron(options);
  onTestFinished(async () => {
    await cron.stop();
    await own.drop();
  });
  /** Waits until this many runs are under way. */
  const underWay = (count: number) => expect.poll(() => under.length).toBe(count);
  const addSiteOfAnother = async () => {
    const another = await addCompany(own.database);
    const { environmentId } = await addSite(own.database, another.companyId);
    due.set(environmentId, ids.length);
    return environmentId;
  };
  return { ...own, ids, due, problems, lines, under, orders, clock, options, cron, underWay, addSiteOfAnother };
}

test("companies take turns, so that one with many sites does not delay the others", async () => {
  const { ids, cron, clock, under, orders, due, addSiteOfAnother } = await openWorld(4, { concurrency: 1 });
  const other = await addSiteOfAnother();
  for (const [rank, id] of [...ids, other].entries()) due.set(id, clock.now - 300_000 + rank);
  await cron.reconcile();
  for (const count of [1, 2, 3]) {
    await expect.poll(() => orders.length).toBe(count);
    under[0]?.answer(ok);
  }
  expect(orders).toEqual([ids[0], other, ids[1]]);
});

test("up to `concurrency` run at once, the most overdue first, and the next starts when one has ended", async () => {
  const { ids, cron, clock, under, orders, underWay, due } = await openWorld(5);
  for (const [rank, index] of [4, 0, 1, 2, 3].entries()) due.set(ids[index] ?? "", clock.now - 300_000 + rank);
  await cron.reconcile();
  await underWay(2);
  expect(new Set(orders)).toEqual(new Set([ids[4], ids[0]]));
  under[0]?.answer(ok);
  await expect.poll(() => orders.length).toBe(3);
  expect(orders[2]).toBe(ids[1]);
  expect(under).toHaveLength(2);
});

test("reconciling while runs are under way starts none of them twice", async () => {
  const { cron, orders, underWay } = await openWorld(2);
  await cron.reconcile();
  await underWay(2);
  await Promise.all([cron.reconcile(), cron.reconcile()]);
  expect(orders).toHaveLength(2);
});

test("an event that is due every second is run once a minute", async () => {
  const { cron, orders, under, clock, ids, database, underWay } = await openWorld(1);
  for (let second = 0; second <= 130; second += 10) {
    await cron.reconcile();
    if (second % 60 === 0) {
      await underWay(1);
      under[0]?.answer(ok);
      await expect.poll(async () => (await findCronRun(database, ids[0] ?? ""))?.endedAt).not.toBeNull();
    }
    clock.now += 10_000;
  }
  expect(orders).toHaveLength(3);
});

test("failed events are logged and stored with their hook; an uncompleted run is retried with back-off", async () => {
  const { cron, under, clock, ids, database, lines, orders, underWay } = await openWorld(1);
  const [id = ""] = ids;
  await cron.reconcile();
  await underWay(1);
  under[0]?.answer({ ran: 1, failed: [{ hook: "send_mail", message: "No bees." }], isCutShort: false });
  await expect.poll(async () => (await findCronRun(database, id))?.error).toBe("send_mail: No bees.");
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 40, environment: id, hook: "send_mail", reason: "No bees." }),
  );
  clock.now += 61_000;
  await cron.reconcile();
  await underWay(1);
  under[0]?.answer({ nothing: "of this kind" });
  await expect.poll(async () => (await findCronRun(database, id))?.failures).toBe(1);
  clock.now += 61_000;
  await cron.reconcile();
  expect(orders).toHaveLength(2);
  clock.now += 61_000;
  await cron.reconcile();
  await underWay(1);
});

test("a process that stops does not abort its runs; the next one waits for them and runs due events once", async () => {
  const first = await openWorld(1);
  const [id = ""] = first.ids;
  await first.cron.reconcile();
  await first.underWay(1);
  await first.cron.stop();
  expect(await findCronRun(first.database, id)).toMatchObject({ endedAt: null, failures: 0 });
  await first.cron.reconcile();
  expect(first.orders).toHaveLength(1);

  const next = makeCron(first.options);
  onTestFinished(() => next.stop());
  await next.reconcile();
  first.clock.now += 61_000;
  await next.reconcile();
  expect(first.orders).toHaveLength(1);
  first.clock.now += 61_000;
  await next.reconcile();
  await expect.poll(() => first.orders.length).toBe(2);
});

test("two processes start each run once", async () => {
  const { cron, options, orders } = await openWorld(4, { concurrency: 4 });
  const other = makeCron(options);
  onTestFinished(() => other.stop());
  await Promise.all([cron.reconcile(), other.reconcile()]);
  await expect.poll(() => orders.length).toBe(4);
  expect(new Set(orders).size).toBe(4);
});

test("no run starts in an environment that was frozen in the meantime", async () => {
  const { cron, ids, database, under, orders, underWay } = await openWorld(2, { concurrency: 1 });
  await cron.reconcile();
  await underWay(1);
  await database
    .updateTable("environments")
    .set({ is_frozen: true })
    .where("id", "=", ids[1] ?? "")
    .execute();
  under[0]?.answer(ok);
  await expect.poll(async () => (await findCronRun(database, ids[0] ?? ""))?.endedAt).not.toBeNull();
  expect(orders).toHaveLength(1);
  expect(await findCronRun(database, ids[1] ?? "")).toBeNull();
});

test("events that can't be read are reported once, and do not block other environments", async () => {
  const { cron, ids, problems, due, lines, orders } = await openWorld(2);
  const [broken = "", fine = ""] = ids;
  due.delete(broken);
  problems.set(broken, "The list is damaged.");
  await cron.reconcile();
  await cron.reconcile();
  expect(lines.filter(({ problem }) => problem === "The list is damaged.")).toHaveLength(1);
  await expect.poll(() => orders).toEqual([fine]);
});

test("nothing is run if `concurrency` is 0", async () => {
  const { cron, orders } = await openWorld(1, { concurrency: 0 });
  await cron.reconcile();
  expect(orders).toEqual([]);
});
