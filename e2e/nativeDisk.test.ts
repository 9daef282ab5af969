/** Sites with native PHP that write as much as they can, next to another site. */
import { chown, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openPool } from "@sitewright/server/store/open.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { send } from "./http.ts";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { type CreatedSite, createSite, runOperation, succeed } from "./sites.ts";

const mebibyte = 2 ** 20;
/** A new site has some 16 MB. */
const quota = { huge: 2e9, roomy: 60e6, full: 5e6 };
/** What a script has written before it is ended depends on the disk's speed. It wants 2 GB. */
const mostBytes = 600e6;

let home: TestFolder;
let installation: Installation;
let greedy: CreatedSite;
let other: CreatedSite;
let webRoot = "";

beforeAll(async () => {
  home = await createFolder();
  installation = await startHere(home.folder, { SITEWRIGHT_RUNTIME: "native" });
  greedy = await createSite(installation, { display_name: "Greedy", site_title: "Greedy" });
  other = await createSite(installation, { display_name: "Other", site_title: "Other" });
  webRoot = await realpath(join(installation.data, "environments", greedy.environmentId, "current/public"));
  await setQuota(quota.roomy);
});
afterAll(async () => {
  await installation?.stop();
  await home?.remove();
});

const environmentPath = () => `/sites/environments/${greedy.environmentId}`;

async function setQuota(bytes: number): Promise<void> {
  await succeed(installation, "PUT", `${environmentPath()}/limits`, { disk_bytes: bytes });
}

/** Until its use is measured again, an environment may be taken for one that is far above its quota. A command makes that soon. */
async function measureAgain(): Promise<void> {
  await setQuota(quota.roomy);
  await wpCli("echo 'measured';");
}

/** PHP that writes 2 GB to a file. */
const writeMuch = (file: string) =>
  `for ( $i = 0; $i < 2048; $i++ ) file_put_contents( '${file}', str_repeat( 'x', ${mebibyte} ), FILE_APPEND ); echo 'done';`;

/** Writes a script of the site, as its owner would. Returns its address. */
async function addScript(name: string, code: string): Promise<string> {
  const file = join(webRoot, name);
  await writeFile(file, `<?php ${code}`);
  const { uid, gid } = await stat(webRoot);
  await chown(file, uid, gid);
  return `${greedy.address}/${name}`;
}

/** The scheduled events of a new site begin a minute after its creation. This makes it a minute older. */
async function makeOlder(): Promise<void> {
  const run: { database_url: string } = JSON.parse(await readFile(join(installation.data, "run.json"), "utf8"));
  const pool = openPool(run.database_url, { connections: 1 });
  const statement = "update environments set created_at = created_at - interval '1 minute' where id = $1";
  await pool.query(statement, [greedy.environmentId]).finally(() => pool.end());
}

const uncached = (site: CreatedSite) => installation.visit(`${site.address}/?fresh=${Math.random()}`);

async function expectPages(): Promise<void> {
  for (const [site, title] of [
    [greedy, "Greedy"],
    [other, "Other"],
  ] as const) {
    const page = await uncached(site);
    expect([page.status, page.text.includes(title)]).toEqual([200, true]);
  }
}

/** Removes the file and returns its size. */
async function take(file: string): Promise<number> {
  const { size } = await stat(file);
  await rm(file);
  return size;
}

async function wpCli(code: string) {
  const { status, data } = await runOperation(installation, "POST", `${environmentPath()}/run-wp-cli-command`, {
    argv: ["eval", code],
  });
  return { status, text: JSON.stringify(data) };
}

async function errorLog(): Promise<string> {
  return (await installation.api("GET", `${environmentPath()}/logs?file_name=error&lines=1000`)).text;
}

describe("a script that writes 2 GB", () => {
  test("into its site is ended, the log says how to make room, and no page fails", async () => {
    const address = await addScript("much.php", writeMuch("/site/much.bin"));
    const attack = installation.visit(address);
    expect(await uncached(other)).toMatchObject({ status: 200 });
    expect(await attack).toMatchObject({ status: 507 });
    expect(await take(join(webRoot, "much.bin"))).toBeLessThan(mostBytes);
    await vi.waitFor(async () => expect(await errorLog()).toContain("Remove files or raise the quota."));
    await expectPages();
  });

  test("into the folder for temporary files is ended", async () => {
    await measureAgain();
    const address = await addScript("temporary.php", writeMuch("/tmp/much.bin"));
    expect(await installation.visit(address)).toMatchObject({ status: 507 });
    // Otherwise nothing could be removed by a page.
    await setQuota(quota.huge);
    const size = await addScript("size.php", "echo filesize( '/tmp/much.bin' ); unlink( '/tmp/much.bin' );");
    expect(Number((await installation.visit(size)).text)).toBeLessThan(mostBytes);
    await expectPages();
  });

  test("as a WP-CLI command is ended, and its output says what to do", async () => {
    await measureAgain();
    const { status, text } = await wpCli(writeMuch("/site/command.bin"));
    expect([status, text]).toEqual([500, expect.stringContaining("Remove files or raise the quota.")]);
    expect(await take(join(webRoot, "command.bin"))).toBeLessThan(mostBytes);
    await expectPages();
  });

  test("as a program that takes space without writing gets none", async () => {
    const { text } = await wpCli(
      "proc_close( proc_open( 'fallocate --length 2G /site/taken.bin', array(), $pipes ) );",
    );
    expect(text).toContain("Operation not supported");
    expect(await take(join(webRoot, "taken.bin"))).toBe(0);
    await expectPages();
  });
});

describe("in a full environment", () => {
  beforeAll(async () => {
    await measureAgain();
    await setQuota(quota.full);
  });

  test("pages are served, and the administrator can log in", async () => {
    await expectPages();
    const form = { log: "owner", pwd: "correct horse battery staple", testcookie: "1" };
    const headers = { cookie: "wordpress_test_cookie=WP%20Cookie%20check" };
    expect((await send("POST", `${greedy.address}/wp-login.php`, { form, headers })).status).toBe(302);
  });

  test("an upload is refused before PHP runs, and the page says why", async () => {
    const address = await addScript("upload.php", "touch( '/site/began' );");
    const answer = await send("POST", address, { upload: "x".repeat(10 * mebibyte) });
    expect([answer.status, answer.text]).toEqual([507, expect.stringContaining("no space left on the disk")]);
    await expect(stat(join(webRoot, "began"))).rejects.toThrow("ENOENT");
  });

  test("a scheduled event that writes is ended, the log says how to make room, and no page fails", async () => {
    const plugin = `add_action( 'write_much', function () { ${writeMuch("/site/event.bin")} } );`;
    const schedule = "wp_schedule_single_event( time() - 5, 'write_much' );";
    await addScript("plugin.txt", plugin);
    await wpCli(
      `mkdir( WPMU_PLUGIN_DIR ); rename( '/site/plugin.txt', WPMU_PLUGIN_DIR . '/write.php' ); ${schedule} echo 'done';`,
    );
    await makeOlder();
    await vi.waitFor(async () => expect(await errorLog()).toMatch(/task cron: diskFull/), {
      timeout: 90_000,
      interval: 200,
    });
    expect(await take(join(webRoot, "event.bin"))).toBeLessThan(mostBytes);
    await expectPages();
  });
});

describe("many requests that each write little", () => {
  const files = () => readdir(join(webRoot, "pieces"));

  /** Writes until it is refused. Returns the script's address and the refusal. */
  async function writeManyPieces() {
    await setQuota(quota.roomy);
    const write = `require '/site/wp-load.php'; update_option( 'piece', uniqid() ); @mkdir( '/site/pieces' ); file_put_contents( '/site/pieces/' . uniqid(), str_repeat( 'x', ${6 * mebibyte} ) ); echo 'done';`;
    const address = await addScript("little.php", write);
    let answer = await installation.visit(address);
    for (let count = 0; count < 200 && answer.status === 200; count += 1) answer = await installation.visit(address);
    return { address, answer };
  }

  test("can't go on for ever: then nothing is written, pages are shown, and the error log says why", async () => {
    await measureAgain();
    const { address, answer } = await writeManyPieces();
    expect([answer.status, answer.text]).toEqual([507, expect.stringContaining("no space left on the disk")]);
    const written = (await files()).length;
    expect(written * 6 * mebibyte).toBeLessThan(quota.roomy + 330e6);
    for (let count = 0; count < 3; count += 1) expect((await installation.visit(address)).status).toBe(507);
    expect(await files()).toHaveLength(written);
    await vi.waitFor(async () => expect(await errorLog()).toContain("it tried to write to a full disk"));
    await expectPages();
  });

  test("go on when the quota is raised", async () => {
    const { address } = await writeManyPieces();
    await setQuota(quota.huge);
    const written = (await files()).length;
    await vi.waitFor(async () => expect((await installation.visit(address)).text).toBe("done"));
    expect(await files()).toHaveLength(written + 1);
  });

  test("as commands, too, can't go on for ever", async () => {
    await writeManyPieces();
    await setQuota(quota.full);
    let commands = 0;
    // Until the pieces have been measured, commands go on.
    await vi.waitFor(async () => {
      commands += 1;
      const { status, text } = await wpCli(`file_put_contents( '/site/command-${commands}.bin', 'x' );`);
      expect([status, text]).toEqual([500, expect.stringContaining("far above its disk quota")]);
    });
    await expect(stat(join(webRoot, `command-${commands}.bin`))).rejects.toThrow("ENOENT");
  });
});
