import { mkdir, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exampleRequest } from "../conformance/conformance.ts";
import type { PhpRequest } from "../serving.ts";
import { addScript, outcomeOf, type Site, visitorOf } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

let world: SiteWorld;
let site: Site;

beforeAll(async () => {
  world = await openWorld();
  site = await world.site();
  await mkdir(path.join(site.documentRoot, "empty"));
}, 120_000);
afterAll(() => world.close());

function get(url: string, isReadOnly: boolean, changes: Partial<PhpRequest> = {}) {
  return visitorOf(world.serving, site).get(url, { isReadOnly, ...changes });
}

let scripts = 0;

/** Runs a script of the site, read-only by default. Returns its outcome. */
async function outcome(code: string, isReadOnly = true): Promise<string | number> {
  scripts += 1;
  const name = `try-${scripts}.php`;
  await addScript(site, name, code);
  return outcomeOf(get(`/${name}`, isReadOnly));
}

const options = "require 'wp-load.php';";

describe("a read-only request", () => {
  test.each(["/", "/?p=1", "/?feed=rss2", "/?s=hello", "/?p=987654", "/wp-login.php"])("can read %s", async (url) => {
    await get(url, false);
    expect([200, 301, 404]).toContain(await outcomeOf(get(url, true)));
  });

  test.each([
    ["makes a file", "file_put_contents('made.txt', 'made');"],
    ["adds to a file", "file_put_contents('wp-config.php', '// more', FILE_APPEND);"],
    ["empties a file", "fopen('wp-config.php', 'w');"],
    ["writes into a file", "$file = fopen('wp-config.php', 'r+'); fwrite($file, 'x'); fclose($file);"],
    ["cuts a file", "$file = fopen('wp-config.php', 'r+'); ftruncate($file, 1);"],
    ["removes a file", "unlink('wp-config.php');"],
    ["renames a file", "rename('wp-config.php', 'other.php');"],
    ["makes a folder", "mkdir('folder');"],
    ["removes a folder", "rmdir('empty');"],
    ["touches a file", "touch('wp-config.php', 1);"],
    ["closes a file to others", "chmod('wp-config.php', 0400);"],
    ["saves an option", `${options} update_option('blogname', 'Changed');`],
    ["adds a post", `${options} wp_insert_post(['post_title' => 'New', 'post_status' => 'publish']);`],
    ["makes a table", `${options} $wpdb->query('CREATE TABLE counts (id int)');`],
    ["dies of it", `${options} if (!update_option('blogname', 'Changed')) { http_response_code(500); exit; }`],
  ])("gets no response from a script that %s, and changes nothing", async (_, code) => {
    const listed = async () => (await readdir(site.documentRoot)).filter((name) => !name.startsWith("try-"));
    const config = () => readFile(path.join(site.documentRoot, "wp-config.php"), "utf8");
    const before = [await listed(), await config()];
    expect(await outcome(`${code} echo 'done';`)).toBe("wouldWrite");
    expect([await listed(), await config()]).toEqual(before);
    expect((await get("/", false)).text).toContain(`<title>${site.wordpress.title}</title>`);
  });

  test("can open files and databases for writing, and use sessions and temporary files", async () => {
    const code = `$file = fopen('wp-config.php', 'r+'); fread($file, 5); fclose($file);
      session_start(); $_SESSION['seen'] = 1; session_write_close();
      file_put_contents(sys_get_temp_dir() . '/note', 'x'); unlink(sys_get_temp_dir() . '/note');
      ${options} get_option('blogname'); echo 'read';`;
    expect(await outcome(code)).toBe(200);
  });
});

test("the same worker can write again for the next ordinary request", async () => {
  const write = `${options} file_put_contents('after.txt', 'x'); update_option('after', uniqid()); echo 'both';`;
  const pids = () => world.serving.status().workers.map(({ pid }) => pid);
  expect(await outcome(write)).toBe("wouldWrite");
  const before = pids();
  expect(await outcome(write, false)).toBe(200);
  expect(pids()).toEqual(before);
});

test("a response that is too long to buffer breaks off if PHP then writes", async () => {
  await addScript(site, "long.php", "for ($i = 0; $i < 20; $i++) echo str_repeat('x', 1 << 20); touch('late.txt');");
  const request = { url: "/long.php", script: "/long.php" };
  expect((await get("/long.php", false, request)).text).toHaveLength(20 << 20);
  await expect(get("/long.php", true, request)).rejects.toMatchObject({ reason: "wouldWrite" });
});

test("`finished` resolves when PHP has ended, even if the response has not been read", async () => {
  await addScript(site, "short.php", "echo 'short';");
  const changes = { url: "/short.php", script: "/short.php" };
  const answer = await world.serving.handle(site.environment.id, exampleRequest(site.wordpress.address, changes));
  await answer.finished;
  expect(await text(answer.body)).toBe("short");
});
