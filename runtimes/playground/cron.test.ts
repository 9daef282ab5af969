import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runTask } from "./testing/runTask.ts";
import { outcomeOf, runPhp, type Site } from "./testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

let world: Playground;
let site: Site;
beforeAll(async () => {
  world = await openPlayground({ maxWorkers: 4 });
  site = await world.site();
}, 120_000);
afterAll(() => world.close());

const signal = new AbortController().signal;

/** WordPress itself, which plans something at every page, is kept from it. */
const planOnly = (...hooks: readonly string[]) => `
  add_filter('pre_schedule_event', fn ($pre, $event) => in_array($event->hook, ['${hooks.join("', '")}'], true) ? $pre : false, 10, 2);`;

/** What hooks of the tests do: each writes its name, and what it was given, into a file. */
const recorder = `${planOnly("good", "throws", "fatal", "exits", "endless", "clears", "again")}
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

/** Nothing is planned, and nothing is under way. */
async function clear(): Promise<void> {
  await runPhp(
    world.serving,
    site,
    "require 'wp-load.php'; delete_transient('doing_cron'); _set_cron_array(['version' => 2]);",
  );
}

/** Hooks that are planned, all of them due since some seconds, in this order. */
async function plan(...hooks: readonly string[]): Promise<void> {
  const calls = hooks.map((hook, index) => `wp_schedule_single_event(time() - ${100 - index}, ${hook});`);
  await runPhp(world.serving, site, `require 'wp-load.php'; ${calls.join("")}`);
}

const run = (changes = {}) => runTask(world.serving, site, "cron", { path: "/", seconds: 30 }, changes);
const ran = async () => (await readFile(ranFile(), "utf8").catch(() => "")).split("\n").filter((line) => line !== "");

async function planned(): Promise<readonly string[]> {
  const plans = await world.runtime.cronEvents(site.environment, signal);
  return plans?.sites.flatMap(({ events }) => events.map(({ hook }) => hook)) ?? [];
}

test("what is due is run once, the oldest first, with what it was planned with", async () => {
  await plan("'good', [1, 'a']", "'good', [2]");
  await runPhp(
    world.serving,
    site,
    "require 'wp-load.php'; wp_schedule_single_event(time() + 500, 'good', ['later']);",
  );
  expect(await run()).toMatchObject({ answer: { ran: 2, failed: [], isCutShort: false }, errors: "" });
  expect((await run()).answer).toMatchObject({ ran: 0 });
  expect(await ran()).toEqual(['good[1,"a"]', "good[2]"]);
  expect(await planned()).toEqual(["good"]);
});

test("when the next one is due is known without PHP, and again after each run", async () => {
  const next = async () =>
    (await world.runtime.nextEvents([site.environment], signal)).get(site.environment.id)?.events;
  expect(await next()).toEqual([]);
  await plan("'good'");
  const [due] = (await next()) ?? [];
  expect(due).toMatchObject({ place: null });
  expect(due?.dueAt).toBeLessThan(Date.now());
  await run();
  expect(await next()).toEqual([]);
});

test("a recurring event is planned for a time to come, however many were missed", async () => {
  await runPhp(world.serving, site, "require 'wp-load.php'; wp_schedule_event(time() - 36000, 'hourly', 'good');");
  expect((await run()).answer).toMatchObject({ ran: 1 });
  expect(await ran()).toEqual(["good[]"]);
  const plans = await world.runtime.cronEvents(site.environment, signal);
  expect(plans?.sites[0]?.events).toMatchObject([{ hook: "good", recurrence: "hourly", intervalSeconds: 3600 }]);
  expect(plans?.sites[0]?.events[0]?.dueAt).toBeGreaterThan(Date.now());
});

describe("what goes wrong in one event is told with its name, in the site's log too, and the others go on:", () => {
  test("an error that nobody catches", async () => {
    await plan("'throws'", "'good'");
    const { answer, errors } = await run();
    expect(answer).toEqual({
      ran: 2,
      failed: [{ hook: "throws", message: "RuntimeException: No bees." }],
      isCutShort: false,
    });
    expect(errors).toContain("WP-Cron event throws failed: RuntimeException: No bees.");
    expect(await ran()).toEqual(["throws[]", "good[]"]);
  });

  test("a fatal error ends PHP; the next request does the rest", async () => {
    await plan("'fatal'", "'good'");
    const { answer, errors } = await run();
    expect(answer).toMatchObject({ ran: 1, failed: [{ hook: "fatal" }], isCutShort: true });
    expect(errors).toContain("WP-Cron event fatal failed: Allowed memory size");
    expect((await run()).answer).toMatchObject({ ran: 1, failed: [], isCutShort: false });
    expect(await ran()).toEqual(["fatal[]", "good[]"]);
  });

  test("an event that ends PHP has done what it wanted", async () => {
    await plan("'exits'", "'good'");
    expect((await run()).answer).toEqual({ ran: 1, failed: [], isCutShort: true });
    expect((await run()).answer).toMatchObject({ ran: 1 });
    expect(await ran()).toEqual(["exits[]", "good[]"]);
  });

  test("an event that never ends is ended, and named by the run after it", async () => {
    await plan("'endless'", "'good'");
    expect(await outcomeOf(run({ deadlineSeconds: 2 }))).toBe("deadline");
    expect((await run()).answer).toMatchObject({ ran: 0 });
    await runPhp(world.serving, site, "require 'wp-load.php'; delete_transient('doing_cron');");
    expect((await run()).answer).toMatchObject({ ran: 1, failed: [{ hook: "endless" }] });
    expect((await run()).answer).toMatchObject({ ran: 0, failed: [] });
    expect(await ran()).toEqual(["endless[]", "good[]"]);
  });
});

test("an event that another one has taken off the list is not run", async () => {
  await plan("'clears'", "'good', ['cleared']");
  expect((await run()).answer).toMatchObject({ ran: 1 });
  expect(await ran()).toEqual(["clears[]"]);
});

test("what plans itself without a pause waits for the next run", async () => {
  await plan("'again'");
  expect((await run()).answer).toMatchObject({ ran: 1 });
  expect(await planned()).toEqual(["again"]);
});

test("a run that WordPress itself has begun is not disturbed, unless its lock is from the future", async () => {
  await plan("'good'");
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

test("a WordPress that does not get so far leaves no answer", async () => {
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
      `<?php ${planOnly("here")} add_action('here', function () { file_put_contents('/site/ran.txt', home_url('/')); });`,
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
