/** Several processes on one database, and death among them. */
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
import { openTable, type Subject } from "./testing/crashHarness.ts";
import { startChild } from "./testing/runners.ts";

let world: World;
let script: Script;
let places: Place[] = [];

/** A process that is replaced whenever it ends, as the supervisor would. */
interface Place {
  child: ChildProcess;
  restarts: number;
  isKept: boolean;
  readonly fault: Fault;
}

beforeEach(async () => {
  world = await makeWorld();
  script = createFakeRuntime({ folder: join(world.facts.dataFolder, "fake") }).script;
  places = [];
});
afterEach(async () => {
  for (const place of places) {
    place.isKept = false;
    place.child.kill("SIGKILL");
  }
  await world[Symbol.asyncDispose]();
});

async function fill(fault: Fault = {}): Promise<Place> {
  const place: Place = { child: await startChild(world, { [anyOperation]: fault }), restarts: 0, isKept: true, fault };
  places.push(place);
  void keep(place);
  return place;
}

async function keep(place: Place): Promise<void> {
  for (;;) {
    await once(place.child, "exit");
    if (!place.isKept) return;
    place.child = await startChild(world, { [anyOperation]: place.fault });
    place.restarts++;
  }
}

async function provisionedBy(siteCount: number): Promise<void> {
  await expect.poll(async () => (await script.calls()).length).toBeGreaterThanOrEqual(siteCount);
}

async function runAll(subject: Subject, count: number): Promise<OperationRow[]> {
  await using table = await openTable(world);
  const requests = await Promise.all(Array.from({ length: count }, () => subject.prepare(world)));
  const rows = await Promise.all(requests.map((request) => table.submit(request)));
  for (const request of requests) expect(await subject.finished(world, request)).toEqual([]);
  return rows;
}

function expectAllWell(rows: readonly OperationRow[]): void {
  expect(rows.map((row) => [row.state, row.public_error])).toEqual(rows.map(() => ["succeeded", null]));
}

test("two processes share the work, and do nothing twice", async () => {
  await Promise.all([fill(), fill()]);
  expectAllWell(await runAll(creatingSite, 12));
  const calls = await script.calls();
  const provisioned = calls.filter((call) => call.method === "provision" && call.when === "before");
  expect(new Set(provisioned.map((call) => call.environmentId)).size).toBe(12);
  expect(provisioned.length).toBe(12);
});

test("a process that lives takes over from one that died in the middle of a step", async () => {
  const first = await fill();
  await script.setFaults([{ method: "provision", when: "middle", kind: "hang", times: 1 }]);
  const rows = runAll(creatingSite, 1);
  await provisionedBy(2);
  await fill();
  first.isKept = false;
  first.child.kill("SIGKILL");
  expectAllWell(await rows);
});

test("nothing is lost, stuck or half done while processes are killed again and again", async () => {
  await Promise.all([fill(), fill()]);
  const creation = runAll(creatingSite, 20);
  const deletion = runAll(deletingSite, 10);
  for (let kill = 0; kill < 6; kill++) {
    await delay(100 + Math.random() * 400);
    places[kill % places.length]?.child.kill("SIGKILL");
  }
  expectAllWell([...(await creation), ...(await deletion)]);
  expect(await world.own.database.selectFrom("environment_locks").selectAll().execute()).toEqual([]);
  expect(places.reduce((sum, place) => sum + place.restarts, 0)).toBeGreaterThan(1);
});

test("a process that loses its connections makes way for another, which goes on", async () => {
  const place = await fill();
  await script.setFaults([{ method: "provision", when: "middle", kind: "hang", times: 1 }]);
  const rows = runAll(creatingSite, 1);
  await provisionedBy(2);
  await world.own.pool.query(
    `select pg_terminate_backend(pid) from pg_locks
     where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
  );
  expectAllWell(await rows);
  expect(place.restarts).toBe(1);
});

test("a step that no process survives is given up and undone", async () => {
  const place = await fill({ killAt: "run publish:after" });
  await using table = await openTable(world);
  const request = await creatingSite.prepare(world);
  const row = await table.submit(request);
  expect(row).toMatchObject({
    state: "failed",
    public_error: "The server stopped each time this was tried, so it was given up.",
  });
  expect(await creatingSite.cleanSlate(world, request)).toEqual([]);
  expect(place.restarts).toBe(3);
});
