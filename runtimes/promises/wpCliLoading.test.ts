/** WP-CLI in sites that can't be loaded, so that their owners can repair them. */
import { chown, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ownerOf } from "../owner.ts";
import type { WpCliOutcome } from "../runtime.ts";
import type { Site } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

const timeout = 240_000;

let world: SiteWorld;
let site: Site;
beforeAll(async () => {
  world = await openWorld();
  site = await world.site({ title: "Garden" });
}, timeout);
afterAll(() => world.close());

function wp(...argv: readonly string[]): Promise<WpCliOutcome> {
  const command = { phpVersion: world.phpVersion, argv, seconds: 60 };
  return world.runtime.runWpCli(site.environment, command, async () => undefined, new AbortController().signal);
}

const content = (name: string) => path.join(site.documentRoot, "wp-content", name);

/** Writes a file as the owner of the site. */
async function put(name: string, code: string): Promise<void> {
  const owner = ownerOf(site.environment.number);
  await mkdir(path.dirname(content(name)), { recursive: true });
  await writeFile(content(name), code);
  if (process.getuid?.() !== 0) return;
  await chown(path.dirname(content(name)), owner, owner);
  await chown(content(name), owner, owner);
}

const broken = ["object-cache.php", "mu-plugins/broken.php"];
afterEach(async () => {
  for (const name of [...broken, "object-cache.php.off"]) await rm(content(name), { force: true });
});

const faults = {
  "a fatal error": "<?php no_server_there();",
  "a syntax error": "<?php this is no PHP",
  "a page and the end of PHP": `<?php http_response_code(500); echo "<h1>Error establishing a connection</h1>"; exit(1);`,
};
const [dropIn = "", mustUse = ""] = broken;

describe("a command with --skip-plugins", () => {
  test.each([
    ["a fatal error", dropIn],
    ["a page and the end of PHP", dropIn],
    ["a fatal error", mustUse],
    ["a syntax error", mustUse],
  ] as const)("survives %s in %s", { timeout }, async (fault, name) => {
    await put(name, faults[fault]);
    const ended = await wp("option", "get", "blogname", "--skip-plugins", "--skip-themes");
    expect(ended).toMatchObject({ stdout: { text: "Garden\n" }, exitCode: 0 });
    const files = `runs without these files of wp-content: ${name}`;
    expect(ended.stderr.text).toContain(`Warning: WordPress could not be loaded, so the command ${files}`);
    expect((await wp("option", "get", "blogname")).exitCode).not.toBe(0);
  });

  test("does not run twice if it fails itself", { timeout }, async () => {
    await put("object-cache.php", `<?php require_once ABSPATH . WPINC . "/cache.php";`);
    const count = "file_put_contents('runs.txt', 'x', FILE_APPEND); no_function_there();";
    expect(await wp("eval", count, "--skip-plugins")).toMatchObject({ exitCode: 1 });
    expect(await readFile(path.join(site.documentRoot, "runs.txt"), "utf8")).toBe("x");
    expect((await wp("config", "get", "NOTHING", "--skip-plugins")).stderr.text).toMatch(/^Error: .*NOTHING.*\n$/);
    const bad = await wp("db", "query", "SELECT 1; SELECT nothing", "--skip-plugins");
    expect(bad.stdout.text).toBe("1\n1\n");
    expect(bad.stderr.text).toContain("Error: ");
    expect(bad.exitCode).toBe(1);
  });

  test("passes on quotes, exit codes and errors when it runs again", { timeout }, async () => {
    await put("object-cache.php", faults["a fatal error"]);
    const code = `fwrite(STDERR, 'it is "so"'); echo '$x \\\\'; exit(7);`;
    const ended = await wp("eval", code, "--skip-plugins");
    expect(ended).toMatchObject({ stdout: { text: "$x \\" }, exitCode: 7 });
    expect(ended.stderr.text).toMatch(/it is "so"$/);
  });

  test("uses a working object cache", { timeout }, async () => {
    await put("object-cache.php", `<?php require_once ABSPATH . WPINC . "/cache.php"; define('GARDEN_CACHE', 'used');`);
    expect((await wp("eval", "echo GARDEN_CACHE;", "--skip-plugins")).stdout.text).toBe("used");
  });
});

test("without the options, a command that fails says what to add", { timeout }, async () => {
  await put("object-cache.php", faults["a fatal error"]);
  expect((await wp("option", "get", "blogname")).stderr.text).toMatch(
    /\nHint: Add --skip-plugins --skip-themes to run/,
  );
  await rm(content("object-cache.php"));
  expect((await wp("option", "get", "nothing")).stderr.text).not.toContain("Hint");
});

describe("wp dropin", () => {
  test("switches a broken drop-in off and on, and deletes it", { timeout }, async () => {
    await put("object-cache.php", faults["a fatal error"]);
    const list = async () => (await wp("dropin", "list", "--format=csv")).stdout.text;
    expect(await list()).toBe("name,status\nobject-cache.php,active\n");
    expect(await wp("dropin", "deactivate", "object-cache.php")).toMatchObject({ exitCode: 0 });
    expect((await wp("option", "get", "blogname")).stdout.text).toBe("Garden\n");
    expect(await list()).toBe("name,status\nobject-cache.php,inactive\n");
    expect(await wp("dropin", "activate", "object-cache.php")).toMatchObject({ exitCode: 0 });
    expect(await wp("dropin", "delete", "object-cache.php")).toMatchObject({ exitCode: 0 });
    expect(await readdir(content("."))).not.toContain("object-cache.php");
  });

  test.each([
    ["activate", "object-cache.php", "There is no object-cache.php.off"],
    ["delete", "object-cache.php", "There is no object-cache.php"],
    ["delete", "db.php", "is not a drop-in that can be switched off"],
    ["deactivate", "../wp-config.php", "is not a drop-in that can be switched off"],
  ])("%s %s is refused", { timeout }, async (verb, name, message) => {
    expect((await wp("dropin", verb, name)).stderr.text).toContain(message);
    expect(await readdir(site.documentRoot)).toContain("wp-config.php");
  });
});

test("a file is deleted without WordPress", { timeout }, async () => {
  await put("mu-plugins/broken.php", faults["a syntax error"]);
  const code = "unlink('wp-content/mu-plugins/broken.php');";
  expect(await wp("eval", code, "--skip-wordpress")).toMatchObject({ exitCode: 0 });
  expect((await wp("option", "get", "blogname")).stdout.text).toBe("Garden\n");
});
