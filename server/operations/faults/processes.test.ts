/** Several processes that share one database and die. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import type { Script } from "@sitewright/runtimes/fake/script.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { OperationRow } from "../../store/operations.ts";
import { anyOperation, type Fault } from "../../testing/faults.ts";
import { creatingSite, deletingSite } from "../../testing/sites.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import { openHarness, type Subject } from "./testing/crashHarness.ts";
import { childReady, startChild } from "./testing/runners.ts";

let world: World;
let script: Script;
let slots: Slot[] = [];

/** A process that is started again whenever it ends, even while it starts, as by the supervisor. */
interface Slot {
  child: ChildProcess;
  restarts: number;
  /** Kills the process and doesn't start it again. */
  close(): Promise<void>;
}

beforeEach(async () => {
  world = await makeWorld();
  script = createFakeRuntime({ folder: join(world.facts.dataFolder, "fake") }).script;
  slots = [];
});
afterEach(async () => {
  await Promise.all(slots.map((slot) => slot.close()));
  await world[Symbol.asyncDispose]();
});

async function startSlot(fault: Fault = {}): Promise<Slot> {
  const start = () => startChild(world, { [anyOperation]: fault });
  let isOpen = true;
  const slot = {
    child: start(),
    restarts: 0,
    close: async () => {
      isOpen = false;
      slot.child.kill("SIGKILL");
      await running;
    },
  };
  async function keepRunning(): Promise<void> {
    for (;;) {
      await once(slot.child, "exit");
      if (!isOpen) return;
      slot.child = start();
      slot.restarts++;
    }
  }
  const running = keepRunning();
  slots.push(slot);
  await childReady(slot.child);
  return slot;
}

/** Makes the next process that provisions an environment hang in the middle of it. Returns a wait for that moment. */
async function hangInProvision(): Promise<() => Promise<void>> {
  await script.setFaults([{ method: "provision", when: "middle", kind: "hang", times: 1 }]);
  return () =>
    expect.poll(script.calls).toContainEqual(expect.objectContaining({ method: "provision", when: "middle" }));
}

async function runAll(subject: Subject, count: number): Promise<OperationRow[]> {
  await using harness = await openHarness(world);
  const requests = await Promise.all(Array.from({ length: count }, () => subject.prepare(world)));
  const rows = await Promise.all(requests.map((request) => harness.submit(request)));
  for (const request of requests) expect(await subject.finished(world, request)).toEqual([]);
  return rows;
}

function expectSuccess(rows: readonly OperationRow[]): void {
  expect(rows.map((row) => [row.state, row.public_error])).toEqual(rows.map(() => ["succeeded", null]));
}

test("two processes share the work and do nothing twice", async () => {
  await Promise.all([startSlot(), startSlot()]);
  expectSuccess(await runAll(creatingSite, 12));
  const calls = await script.calls();
  const provisioned = calls.filter((call) => call.method === "provision" && call.when === "before");
  expect(new Set(provisioned.map((call) => call.environmentId)).size).toBe(12);
  expect(provisioned.length).toBe(12);
});

test("a living process takes over from one that died in the middle of a step", async () => {
  const first = await startSlot();
  const untilHanging = await hangInProvision();
  const rows = runAll(creatingSite, 1);
  await untilHanging();
  await startSlot();
  await first.close();
  expectSuccess(await rows);
});

test("repeated kills leave nothing lost, stuck or half done", async () => {
  const kills = 6;
  // All of them may hit the same operation.
  world = { ...world, facts: { ...world.facts, maxAttempts: kills + 1 } };
  await Promise.all([startSlot(), startSlot()]);
  const creation = runAll(creatingSite, 20);
  const deletion = runAll(deletingSite, 10);
  for (let kill = 0; kill < kills; kill++) {
    await delay(100 + Math.random() * 400);
    slots[kill % slots.length]?.child.kill("SIGKILL");
  }
  expectSuccess([...(await creation), ...(await deletion)]);
  expect(await world.own.database.selectFrom("environment_locks").selectAll().execute()).toEqual([]);
  expect(slots.reduce((sum, slot) => sum + slot.restarts, 0)).toBeGreaterThan(1);
});

test("a process that loses its connections ends, and the next one continues its work", async () => {
  const slot = await startSlot();
  const untilHanging = await hangInProvision();
  const rows = runAll(creatingSite, 1);
  await untilHanging();
  await world.own.pool.query(
    `select pg_terminate_backend(pid) from pg_locks
     where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
  );
  expectSuccess(await rows);
  expect(slot.restarts).toBe(1);
});

test("a step that kills every process is given up and undone", async () => {
  const slot = await startSlot({ killAt: "run publish:after" });
  await using harness = await openHarness(world);
  const request = await creatingSite.prepare(world);
  const row = await harness.submit(request);
  expect(row).toMatchObject({
    state: "failed",
    public_error: "The server stopped each time this was tried, so it was given up.",
  });
  expect(await creatingSite.undone(world, request)).toEqual([]);
  expect(slot.restarts).toBe(3);
});
