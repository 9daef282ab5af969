/** Due events of real WordPress sites without visitors, from reading their databases to the end of PHP. */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { PlaygroundServing } from "@sitewright/runtimes/playground/serving.ts";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { makeEdgeClient } from "../../clients/edgeClient.ts";
import { findCronRun } from "../../store/sites/cronRuns.ts";
import { setFrozen } from "../../store/sites/environmentStates.ts";
import { visit } from "../../testing/edge.ts";
import { silentLog } from "../../testing/engine.ts";
import { playground, preparePlayground } from "../../testing/playground.ts";
import { liveSite } from "../../testing/sites.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import { makeCron } from "./runCron.ts";

let world: World;
let serving: PlaygroundServing | null = null;

beforeAll(async () => {
  world = await makeWorld((folder) => {
    const made = playground(folder);
    return {
      ...made,
      makeServing: (run, port) => {
        serving = playgroundServing(made.makeServing?.(run, port));
        return serving;
      },
    };
  });
  await preparePlayground(world);
}, 300_000);
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

function playgroundServing(made: unknown): PlaygroundServing {
  if (!isPlaygroundServing(made)) throw new Error("The world has another runtime");
  return made;
}

function isPlaygroundServing(made: unknown): made is PlaygroundServing {
  return typeof made === "object" && made !== null && "status" in made && "runTrial" in made;
}

const workersOf = ({ environment }: Site) =>
  (serving?.status().workers ?? []).filter(({ environmentId }) => environmentId === environment.id).length;

/** Prevents WordPress from scheduling its own events, and records each run of its own hook. */
const plugin = `<?php
add_filter('pre_schedule_event', fn ($pre, $event) => str_starts_with($event->hook, 'test_') ? $pre : false, 10, 2);
add_action('test_event', function () { file_put_contents(ABSPATH . 'ran.txt', 'x', FILE_APPEND); });
add_action('test_fails', function () { throw new LogicException('Nobody home.'); });
`;

type Site = Awaited<ReturnType<typeof liveSite>> & { readonly documentRoot: string };

async function siteWithPlugin(): Promise<Site> {
  const site = await liveSite(world);
  const layout = await world.services.runtime.layout(site.environment);
  if (layout === null) throw new Error("The environment is not there");
  const folder = join(layout.documentRoot, "wp-content/mu-plugins");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "events.php"), plugin);
  return { ...site, documentRoot: layout.documentRoot };
}

/** Schedules only these hooks, a minute ago, without PHP, so the site stays asleep. */
function schedule({ documentRoot }: Site, ...hooks: readonly string[]): void {
  const due = Math.floor(Date.now() / 1_000) - 60;
  const events = hooks.map(
    (hook) =>
      `s:${hook.length}:"${hook}";a:1:{s:32:"40cd750bba9870f18aada2478b24840a";a:2:{s:8:"schedule";b:0;s:4:"args";a:0:{}}}`,
  );
  const list = `a:2:{i:${due};a:${hooks.length}:{${events.join("")}}s:7:"version";i:2;}`;
  const database = new DatabaseSync(join(documentRoot, "../database/wordpress.sqlite"));
  database.prepare("UPDATE wp_options SET option_value = ? WHERE option_name = 'cron'").run(list);
  database.close();
}

const ran = async ({ documentRoot }: Site) =>
  (await readFile(join(documentRoot, "ran.txt"), "utf8").catch(() => "")).length;
const lastRun = ({ environment }: Site) => findCronRun(world.own.database, environment.id);

/** Its clock is `later` milliseconds ahead, so the sites are old enough. */
function startCron(later = 600_000) {
  const cron = makeCron({
    database: world.own.database,
    runtime: world.services.runtime,
    edge: makeEdgeClient(world.facts.edgeSocket),
    hostOf: ({ host }) => `${host}:${world.facts.edgePort}`,
    concurrency: 2,
    log: silentLog,
    now: () => Date.now() + later,
  });
  onTestFinished(() => cron.stop());
  return cron;
}

/** Reconciles repeatedly, as the schedule does, until the condition is met. */
async function until(cron: ReturnType<typeof startCron>, isMet: () => Promise<boolean>): Promise<void> {
  await expect
    .poll(
      async () => {
        await cron.reconcile();
        return isMet();
      },
      { timeout: 60_000, interval: 200 },
    )
    .toBe(true);
}

let site: Site;
let other: Site;
beforeAll(async () => {
  [site, other] = [await siteWithPlugin(), await siteWithPlugin()];
});
beforeEach(async () => {
  await world.own.database.deleteFrom("cron_runs").execute();
  for (const each of [site, other]) {
    schedule(each);
    await rm(join(each.documentRoot, "ran.txt"), { force: true });
  }
});

test("events of sites without visitors are run once, and a worker ends soon after unless a visitor comes", async () => {
  const cron = startCron();
  schedule(site, "test_event");
  await until(cron, async () => (await ran(site)) === 1);
  expect((await visit(world.facts.edgePort, site.address)).status).toBe(200);
  schedule(other, "test_event");
  await until(cron, async () => (await lastRun(other))?.endedAt != null);
  expect(await lastRun(other)).toMatchObject({ error: null, failures: 0 });
  await expect.poll(() => workersOf(other), { timeout: 20_000 }).toBe(0);
  expect(workersOf(site)).toBe(1);
  await cron.reconcile();
  expect([await ran(site), await ran(other)]).toEqual([1, 1]);
});

test("an event that was missed during downtime is run once by the next process", async () => {
  schedule(site, "test_event");
  const first = startCron();
  await until(first, async () => (await lastRun(site)) !== null);
  await first.stop();
  // Late enough that the first run is over, whether or not PHP had received it.
  const next = startCron(900_000);
  await until(next, async () => (await ran(site)) === 1);
  await next.reconcile();
  expect(await ran(site)).toBe(1);
});

test("nothing is run in a frozen environment, and missed events are run when it is no longer frozen", async () => {
  const { database } = world.own;
  const { id } = site.environment;
  schedule(site, "test_event");
  await setFrozen(database, id, true);
  await world.services.publisher.publish();
  const cron = startCron();
  await cron.reconcile();
  // The edge refuses the task too, in case control does not know yet that the environment is frozen.
  const work = { task: "cron", input: { path: "/", seconds: 30 } };
  const order = { environmentId: id, host: new URL(site.address).host, work, deadlineSeconds: 60 };
  expect(await makeEdgeClient(world.facts.edgeSocket).runTask(order)).toMatchObject({ reason: "frozen" });
  expect([await ran(site), await lastRun(site)]).toEqual([0, null]);
  await setFrozen(database, id, false);
  await world.services.publisher.publish();
  await until(cron, async () => (await ran(site)) === 1);
});

test("a failed event is recorded by name, and it, a damaged list and an empty database do not affect other sites", async () => {
  const [damaged, empty] = [await siteWithPlugin(), await siteWithPlugin()];
  const database = new DatabaseSync(join(damaged.documentRoot, "../database/wordpress.sqlite"));
  database.exec("UPDATE wp_options SET option_value = 'a:1:{i:5;' WHERE option_name = 'cron'");
  database.close();
  await writeFile(join(empty.documentRoot, "../database/wordpress.sqlite"), "");
  schedule(site, "test_fails", "test_event");
  schedule(other, "test_event");
  await until(
    startCron(),
    async () => (await lastRun(site))?.endedAt != null && (await lastRun(other))?.endedAt != null,
  );
  expect([await ran(site), await ran(other)]).toEqual([1, 1]);
  expect((await lastRun(site))?.error).toBe("test_fails: LogicException: Nobody home.");
  expect((await lastRun(other))?.error).toBeNull();
  expect([await lastRun(damaged), await lastRun(empty)]).toEqual([null, null]);
});
