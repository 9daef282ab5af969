import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exampleSpec } from "../conformance.ts";
import { runTask } from "./testing/runTask.ts";
import { outcomeOf, runPhp, type Site, visitorOf } from "./testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

let world: Playground;
let site: Site;

beforeAll(async () => {
  world = await openPlayground({ maxWorkers: 4 });
  site = await world.site();
}, 120_000);
afterAll(() => world.close());

const describeSite = (of = site) => runTask(world.serving, of, "describe");

/** While `work` is done, the site has this code as a plugin that can't be switched off. */
async function withPlugin<T>(code: string, work: () => Promise<T>): Promise<T> {
  const folder = path.join(site.documentRoot, "wp-content/mu-plugins");
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, "hostile.php");
  await writeFile(file, `<?php ${code}`);
  return work().finally(() => rm(file));
}

test("a task has WordPress at its own address, with nothing in PHP's log", async () => {
  const told = await describeSite();
  expect(told.answer).toEqual({ version: "7.1.1", address: site.wordpress.address, multisite: false });
  expect(told).toMatchObject({ status: 200, errors: "" });
});

test.each(["subdirectory", "subdomain"] as const)("also in a network of sites: %s", async (multisite) => {
  const network = await world.site({ multisite, address: `http://network-${multisite}.localhost:8081` });
  expect((await describeSite(network)).answer).toMatchObject({ address: network.wordpress.address, multisite: true });
});

describe("a plugin that", () => {
  test.each([
    ["prints", "echo '<b>{\"a\":1}</b>';"],
    ["prints and flushes", "echo 'x'; while (ob_get_level()) ob_end_flush(); flush(); echo 'y';"],
    ["prints at the end", "register_shutdown_function(function () { echo 'bye'; });"],
    ["prints in init", "add_action('init', function () { echo str_repeat('x', 1 << 20); });"],
    ["has a buffer that can't be removed", "ob_start(null, 0, 0);"],
    ["has a buffer that changes what is printed", "ob_start(fn ($text) => strtoupper($text));"],
    ["removes what PHP was told", "$_SERVER = []; $_GET = []; unset($GLOBALS['_SERVER']);"],
  ])("%s doesn't get into the answer", async (_what, code) => {
    const told = await withPlugin(code, describeSite);
    expect(told.answer).toMatchObject({ version: "7.1.1" });
  });

  test.each([
    ["redirects", "add_action('init', function () { wp_redirect('/elsewhere'); exit; });", 302],
    ["dies", "add_action('init', function () { wp_die('No.'); });", 500],
    ["ends everything", "exit;", 200],
    ["prints much and ends everything", "echo str_repeat('x', 1 << 20); exit;", 200],
    ["fails", "add_action('init', function () { no_such_function(); });", 500],
  ])("%s leaves no answer, and the next task is as ever", async (_what, code, status) => {
    const told = await withPlugin(code, describeSite);
    expect(told.answer).toBeNull();
    expect(told.status).toBe(status);
    if (status === 500 && code.includes("no_such"))
      expect(told.errors).toContain("undefined function no_such_function");
    expect((await describeSite()).answer).toMatchObject({ version: "7.1.1" });
  });

  test("never ends is ended at the task's own deadline", async () => {
    const task = withPlugin("if (str_starts_with($_SERVER['REQUEST_URI'], '/endless')) while (true);", () =>
      outcomeOf(runTask(world.serving, site, "describe", {}, { url: "/endless", deadlineSeconds: 2 })),
    );
    expect(await task).toBe("deadline");
  });

  test("has written into the platform's memory harms itself only", async () => {
    await runPhp(world.serving, site, "file_put_contents('/internal/platform/tasks/describe.php', '<?php echo 1;');");
    for (const { pid } of world.serving.status().workers) process.kill(pid, "SIGKILL");
    expect((await describeSite()).answer).toMatchObject({ version: "7.1.1" });
  });
});

test.each(["nothing", "..", "../plugin", "describe.php"])("a task that there is not is not found: %s", async (name) => {
  expect(await runTask(world.serving, site, name)).toMatchObject({ status: 404, answer: null });
});

test("what a task was given is gone when plugins run", async () => {
  const code = `add_action('init', function () { error_log((string) file_exists('/internal/platform/order.json')
    . json_encode([$_SERVER, getenv()])); });`;
  const { errors, answer } = await withPlugin(code, () => runTask(world.serving, site, "describe", { it: "sesame" }));
  expect(answer).not.toBeNull();
  expect(errors).toContain("REQUEST_URI");
  expect(errors).not.toContain("sesame");
});

test("an input of megabytes arrives", async () => {
  expect((await runTask(world.serving, site, "describe", { text: "ü'\\\"\0".repeat(500_000) })).answer).not.toBeNull();
});

test("nothing of the platform is in the site's files", async () => {
  await describeSite();
  const files = JSON.stringify(await world.runtime.listFiles(site.environment));
  expect(files).toContain("/wp-config.php");
  expect(files).not.toMatch(/platform|preload|describe|order\.json/);
  expect((await visitorOf(world.serving, site).get("/internal/platform/tasks/describe.php")).status).toBe(404);
});

describe("before each script of a site, the platform's plugin has run", () => {
  const hook = "sitewright_hook('login_footer', function () { echo 'HOOKED'; }, 5);";
  const isThere = "echo function_exists('sitewright_hook') ? 'there' : 'missing';";

  test("also where there is no WordPress, and does nothing there", async () => {
    const { environment, phpVersion } = exampleSpec();
    await world.runtime.provision({ environment, phpVersion, wordpress: null });
    const layout = await world.runtime.layout(environment);
    if (layout === null) throw new Error("The environment has no layout.");
    const plain = { ...exampleSpec(), environment, documentRoot: layout.documentRoot };
    await world.serving.setEnvironments([{ ...environment, ...layout, phpVersion }]);
    expect(await runPhp(world.serving, plain, isThere)).toBe("there");
    expect((await describeSite(plain)).answer).toBeNull();
    const served = await world.runtime.layout(site.environment);
    if (served !== null) await world.serving.setEnvironments([{ ...site.environment, ...served, phpVersion: "8.3" }]);
  });

  test("and what it hooks to before WordPress is loaded is a hook of WordPress then", async () => {
    expect(
      await runPhp(
        world.serving,
        site,
        `${hook} $_SERVER['PHP_SELF'] = '/wp-login.php'; require '/site/wp-login.php';`,
      ),
    ).toContain("HOOKED");
  });
});
