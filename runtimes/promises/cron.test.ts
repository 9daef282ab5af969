import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runTask } from "../testing/runTask.ts";
import { outcomeOf, runPhp, type Site } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

let world: SiteWorld;
let site: Site;
beforeAll(async () => {
  world = await openWorld({ maxWorkers: 4 });
  site = await world.site();
}, 120_000);
afterAll(() => world.close());

const signal = new AbortController().signal;

/** Allows only these hooks to be scheduled: WordPress itself would schedule events on every page. */
const scheduleOnly = (...hooks: readonly string[]) => `
  add_filter('pre_schedule_event', fn ($pre, $event) => in_array($event->hook, ['${hooks.join("', '")}'], true) ? $pre : false, 10, 2);`;

/** A plugin whose hooks write their name and arguments into a file. */
const recorder = `${scheduleOnly("good", "throws", "fatal", "exits", "endless", "clears", "again")}
  function ran($hook, ...$args) { file_put_contents('/site/ran.txt', $hook . json_encode($args) . "\\n", FILE_APPEND); }
  add_action('good', function (...$args) { ran('good', ...$args); }, 10, 3);
  add_action('throws', function () { ran('throws'); throw new RuntimeException('No bees.'); });
  add_action('fatal', function () { ran('fatal'); ini_set('memory_limit', '64M'); str_repeat('x', 100 << 20); });
  add_action('exits', function () { ran('exits'); echo 'bye'; exit; });
  add_action('endless', function () { ran('endless'); while (true); });
  add_action('clears', function () { ran('clears'); wp_clear_scheduled_hook('good', ['cleared']); });
  add_action('again', function () { ran('again'); wp_schedule_single_event(time() - 1, 'again', [microtime(true)]); });
`;

const ranFile = () => path.join(site.documentRoot, "ran.txt");

beforeEach(async () => {
  const folder = path.join(site.documentRoot, "wp-content/mu-plugins");
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "recorder.php"), `<?php ${recorder}`);
  await clear();
});
afterEach(() => rm(ranFile(), { force: true }));

/** Removes all scheduled events and the lock of a run. */
async function clear(): Promise<void> {
  await runPhp(
    world.serving,
    site,
    "require 'wp-load.php'; delete_transient('doing_cron'); _set_cron_array(['version' => 2]);",
  );
}

/** Schedules these hooks in this order, all due some seconds ago. */
async function schedule(...hooks: readonly string[]): Promise<void> {
  const calls = hooks.map((hook, index) => `wp_schedule_single_event(time() - ${100 - index}, ${hook});`);
  await runPhp(world.serving, site, `require 'wp-load.php'; ${calls.join("")}`);
}

const run = (changes = {}) => runTask(world.serving, site, "cron", { path: "/", seconds: 30 }, changes);
const ran = async () => (await readFile(ranFile(), "utf8").catch(() => "")).split("\n").filter((line) => line !== "");

async function scheduledHooks(): Promise<readonly string[]> {
  const plans = await world.runtime.cronEvents(site.environment, signal);
  return plans?.sites.flatMap(({ events }) => events.map(({ hook }) => hook)) ?? [];
}

test("due events run once, oldest first, with their arguments", async () => {
  await schedule("'good', [1, 'a']", "'good', [2]");
  await runPhp(
    world.serving,
    site,
    "require 'wp-load.php'; wp_schedule_single_event(time() + 500, 'good', ['later']);",
  );
  expect(await run()).toMatchObject({ answer: { ran: 2, failed: [], isCutShort: false }, errors: "" });
  expect((await run()).answer).toMatchObject({ ran: 0 });
  expect(await ran()).toEqual(['good[1,"a"]', "good[2]"]);
  expect(await scheduledHooks()).toEqual(["good"]);
});

test("the time of the next event is read without PHP, and is up to date after each run", async () => {
  const next = async () =>
    (await world.runtime.nextEvents([site.environment], signal)).get(site.environment.id)?.events;
  expect(await next()).toEqual([]);
  await schedule("'good'");
  const [due] = (await next()) ?? [];
  expect(due).toMatchObject({ place: null });
  expect(due?.dueAt).toBeLessThan(Date.now());
  await run();
  expect(await next()).toEqual([]);
});

test("a recurring event runs once for all missed times and is scheduled again in the future", async () => {
  await runPhp(world.serving, site, "require 'wp-load.php'; wp_schedule_event(time() - 36000, 'hourly', 'good');");
  expect((await run()).answer).toMatchObject({ ran: 1 });
  expect(await ran()).toEqual(["good[]"]);
  const plans = await world.runtime.cronEvents(site.environment, signal);
  expect(plans?.sites[0]?.events).toMatchObject([{ hook: "good", recurrence: "hourly", intervalSeconds: 3600 }]);
  expect(plans?.sites[0]?.events[0]?.dueAt).toBeGreaterThan(Date.now());
});

describe("a failing event is reported by name, also in the site's log, and the other events still run:", () => {
  test("an uncaught error", async () => {
    await schedule("'throws'", "'good'");
    const { answer, errors } = await run();
    expect(answer).toEqual({
      ran: 2,
      failed: [{ hook: "throws", message: "RuntimeException: No bees." }],
      isCutShort: false,
    });
    expect(errors).toContain("WP-Cron event throws failed: RuntimeException: No bees.");
    expect(await ran()).toEqual(["throws[]", "good[]"]);
  });

  test("a fatal error ends PHP, and the next request runs the rest", async () => {
    await schedule("'fatal'", "'good'");
    const { answer, errors } = await run();
    expect(answer).toMatchObject({ ran: 1, failed: [{ hook: "fatal" }], isCutShort: true });
    expect(errors).toContain("WP-Cron event fatal failed: Allowed memory size");
    expect((await run()).answer).toMatchObject({ ran: 1, failed: [], isCutShort: false });
    expect(await ran()).toEqual(["fatal[]", "good[]"]);
  });

  test("an event that calls exit has succeeded", async () => {
    await schedule("'exits'", "'good'");
    expect((await run()).answer).toEqual({ ran: 1, failed: [], isCutShort: true });
    expect((await run()).answer).toMatchObject({ ran: 1 });
    expect(await ran()).toEqual(["exits[]", "good[]"]);
  });

  test("an endless event is ended at the deadline and reported by the next run", async () => {
    await schedule("'endless'", "'good'");
    expect(await outcomeOf(run({ deadlineSeconds: 2 }))).toBe("deadline");
    expect((await run()).answer).toMatchObject({ ran: 0 });
    await runPhp(world.serving, site, "require 'wp-load.php'; delete_transient('doing_cron');");
    expect((await run()).answer).toMatchObject({ ran: 1, failed: [{ hook: "endless" }] });
    expect((await run()).answer).toMatchObject({ ran: 0, failed: [] });
    expect(await ran()).toEqual(["endless[]", "good[]"]);
  });
});

test("an event that an earlier one has unscheduled does not run", async () => {
  await schedule("'clears'", "'good', ['cleared']");
  expect((await run()).answer).toMatchObject({ ran: 1 });
  expect(await ran()).toEqual(["clears[]"]);
});

test("an event that schedules itself again at once waits for the next run", async () => {
  await schedule("'again'");
  expect((await run()).answer).toMatchObject({ ran: 1 });
  expect(await scheduledHooks()).toEqual(["again"]);
});

test("nothing runs while WordPress's own run holds the lock, unless the lock is from the future", async () => {
  await schedule("'good'");
  const lock = (seconds: number) =>
    runPhp(
      world.serving,
      site,
      `require 'wp-load.php'; set_transient('doing_cron', sprintf('%.22F', microtime(true) + ${seconds}));`,
    );
  await lock(0);
  expect((await run()).answer).toMatchObject({ ran: 0 });
  await lock(5_000);
  expect((await run()).answer).toMatchObject({ ran: 1 });
});

test("a WordPress that can't load returns no answer", async () => {
  await writeFile(path.join(site.documentRoot, ".maintenance"), "<?php $upgrading = time();");
  expect(await run()).toMatchObject({ status: 503, answer: null });
  await rm(path.join(site.documentRoot, ".maintenance"));
});

test.each(["subdirectory", "subdomain"] as const)(
  "each site of a network has its own events: %s",
  async (multisite) => {
    const network = await world.site({ multisite, address: `http://cron-${multisite}.localhost:8081` });
    const host = new URL(network.wordpress.address).host;
    const folder = path.join(network.documentRoot, "wp-content/mu-plugins");
    await mkdir(folder, { recursive: true });
    await writeFile(
      path.join(folder, "here.php"),
      `<?php ${scheduleOnly("here")} add_action('here', function () { file_put_contents('/site/ran.txt', home_url('/')); });`,
    );
    const [second, secondPath] = multisite === "subdomain" ? [`two.${host}`, "/"] : [host, "/two/"];
    const made = `$id = wpmu_create_blog('${second}', '${secondPath}', 'Two', 1); switch_to_blog($id);
    _set_cron_array(['version' => 2]); wp_schedule_single_event(time() - 5, 'here'); echo get_current_blog_id();`;
    expect(await runPhp(world.serving, network, `require 'wp-load.php'; ${made}`)).toBe("2");
    const next = (await world.runtime.nextEvents([network.environment], signal)).get(network.environment.id);
    const place = next?.events
      .map((each) => each.place)
      .find((each) => each?.path === secondPath && each.host === second);
    expect(place).toEqual({ host: second, path: secondPath });
    const done = await runTask(
      world.serving,
      network,
      "cron",
      { path: secondPath, seconds: 30 },
      { headers: { host: second } },
    );
    expect(done.answer).toMatchObject({ ran: 1, failed: [] });
    expect(await readFile(path.join(network.documentRoot, "ran.txt"), "utf8")).toBe(`http://${second}${secondPath}`);
  },
);
