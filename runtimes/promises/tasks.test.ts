import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exampleSpec } from "../conformance/conformance.ts";
import { servedAs } from "../testing/handMade.ts";
import { runTask } from "../testing/runTask.ts";
import { outcomeOf, runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

let world: SiteWorld;
let site: Site;

beforeAll(async () => {
  world = await openWorld({ maxWorkers: 4 });
  site = await world.site();
}, 120_000);
afterAll(() => world.close());

const describeSite = (of = site) => runTask(world.serving, of, "describe");

/** Runs `work` while the site has this code as a must-use plugin. */
async function withPlugin<T>(code: string, work: () => Promise<T>): Promise<T> {
  const folder = path.join(site.documentRoot, "wp-content/mu-plugins");
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, "hostile.php");
  await writeFile(file, `<?php ${code}`);
  return work().finally(() => rm(file));
}

test("a task runs in WordPress at the site's address, with nothing in PHP's log", async () => {
  const result = await describeSite();
  expect(result.answer).toEqual({ version: "7.1.1", address: site.wordpress.address, multisite: false });
  expect(result).toMatchObject({ status: 200, errors: "" });
});

test.each(["subdirectory", "subdomain"] as const)("a task runs in a %s network", async (multisite) => {
  const network = await world.site({ multisite, address: `http://network-${multisite}.localhost:8081` });
  expect((await describeSite(network)).answer).toMatchObject({ address: network.wordpress.address, multisite: true });
});

describe("a plugin that", () => {
  test.each([
    ["prints", "echo '<b>{\"a\":1}</b>';"],
    ["prints and flushes", "echo 'x'; while (ob_get_level()) ob_end_flush(); flush(); echo 'y';"],
    ["prints at the end", "register_shutdown_function(function () { echo 'bye'; });"],
    ["prints in init", "add_action('init', function () { echo str_repeat('x', 1 << 20); });"],
    ["adds a buffer that can't be removed", "ob_start(null, 0, 0);"],
    ["adds a buffer that changes the output", "ob_start(fn ($text) => strtoupper($text));"],
    ["removes PHP's variables", "$_SERVER = []; $_GET = []; unset($GLOBALS['_SERVER']);"],
  ])("%s does not change the answer", async (_what, code) => {
    const result = await withPlugin(code, describeSite);
    expect(result.answer).toMatchObject({ version: "7.1.1" });
  });

  test.each([
    ["redirects", "add_action('init', function () { wp_redirect('/elsewhere'); exit; });", 302],
    ["dies", "add_action('init', function () { wp_die('No.'); });", 500],
    ["exits", "exit;", 200],
    ["prints much and exits", "echo str_repeat('x', 1 << 20); exit;", 200],
    ["fails", "add_action('init', function () { no_such_function(); });", 500],
  ])("%s prevents the answer, and the next task works", async (_what, code, status) => {
    const result = await withPlugin(code, describeSite);
    expect(result.answer).toBeNull();
    expect(result.status).toBe(status);
    if (status === 500 && code.includes("no_such"))
      expect(result.errors).toContain("undefined function no_such_function");
    expect((await describeSite()).answer).toMatchObject({ version: "7.1.1" });
  });

  test("never ends is stopped at the task's own deadline", async () => {
    const task = withPlugin("if (str_starts_with($_SERVER['REQUEST_URI'], '/endless')) while (true);", () =>
      outcomeOf(runTask(world.serving, site, "describe", {}, { url: "/endless", deadlineSeconds: 1 })),
    );
    expect(await task).toBe("deadline");
  });

  test("changes the platform's files in memory affects only its own worker", async () => {
    await runPhp(world.serving, site, "file_put_contents('/internal/platform/tasks/describe.php', '<?php echo 1;');");
    for (const { pid } of world.serving.status().workers) process.kill(pid, "SIGKILL");
    expect((await describeSite()).answer).toMatchObject({ version: "7.1.1" });
  });
});

test.each(["nothing", "..", "../plugin", "describe.php"])("an unknown task returns 404: %s", async (name) => {
  expect(await runTask(world.serving, site, name)).toMatchObject({ status: 404, answer: null });
});

test("plugins can't read the input of a task", async () => {
  const code = `add_action('init', function () { error_log(sitewright_tell(['sitewright' => 'order'])
    . json_encode([$_SERVER, getenv()])); });`;
  const { errors, answer } = await withPlugin(code, () => runTask(world.serving, site, "describe", { it: "sesame" }));
  expect(answer).not.toBeNull();
  expect(errors).toContain("REQUEST_URI");
  expect(errors).not.toContain("sesame");
});

test("a task can have megabytes of input", async () => {
  expect((await runTask(world.serving, site, "describe", { text: "ü'\\\"\0".repeat(500_000) })).answer).not.toBeNull();
});

test("the site's files contain nothing of the platform", async () => {
  await describeSite();
  const files = JSON.stringify(await world.runtime.listFiles(site.environment));
  expect(files).toContain("/wp-config.php");
  expect(files).not.toMatch(/platform|preload|describe/);
  expect((await visitorOf(world.serving, site).get("/internal/platform/tasks/describe.php")).status).toBe(404);
});

describe("the platform's plugin runs before each script of a site", () => {
  const hook = "sitewright_hook('login_footer', function () { echo 'HOOKED'; }, 5);";
  const isThere = "echo function_exists('sitewright_hook') ? 'there' : 'missing';";

  test("even without WordPress, where it does nothing", async () => {
    const { environment } = exampleSpec();
    const { phpVersion } = world;
    await world.runtime.provision({ environment, phpVersion, wordpress: null });
    const layout = await world.runtime.layout(environment);
    if (layout === null) throw new Error("The environment has no layout.");
    const plain = { ...exampleSpec(), environment, documentRoot: layout.documentRoot };
    await world.serving.setEnvironments([await servedAs(world, site), { ...environment, ...layout, phpVersion }]);
    expect(await runPhp(world.serving, plain, isThere)).toBe("there");
    expect((await describeSite(plain)).answer).toBeNull();
  });

  test("and can add hooks before WordPress is loaded", async () => {
    expect(
      await runPhp(
        world.serving,
        site,
        `${hook} $_SERVER['PHP_SELF'] = '/wp-login.php'; require '/site/wp-login.php';`,
      ),
    ).toContain("HOOKED");
  });
});
