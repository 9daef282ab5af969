/** Pushes with real WordPress under load: visitors see no errors and no mixture, and no writes are lost. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { findNewestBackup } from "../../store/backups/backups.ts";
import { modifyingPhpVersion, notesOf, pushing, titleOf } from "../../testing/environments.ts";
import { makePlaygroundWorld } from "../../testing/playground.ts";
import { withEngine } from "../../testing/withEngine.ts";
import type { World } from "../../testing/world.ts";
import type { PushPart } from "./pushEnvironment.ts";

let world: World;
beforeAll(async () => {
  world = await makePlaygroundWorld();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** Prints which code and which database answered. */
const readScript = (code: string) => `<?php
require __DIR__ . '/wp-load.php';
echo '${code}|' . get_option( 'blogname' ) . '|end';
`;

const writeScript = `<?php
require __DIR__ . '/wp-load.php';
echo add_option( 'written_' . $_POST['n'], '1', '', false ) ? 'saved' : 'refused';
`;

/** A GET request that writes, like a plugin that counts visitors. */
const countScript = `<?php
require __DIR__ . '/wp-load.php';
add_option( 'written_' . $_GET['n'], '1', '', false );
echo 'counted';
`;

/** The first number that `count.php` writes. */
const firstCounted = 1_000_000;

interface Answer {
  readonly status: number;
  readonly body: string;
}

function fetchPage(address: string, path: string, form?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      host: new URL(address).host,
      ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
    };
    const options = { host: "127.0.0.1", port: world.facts.edgePort, path, headers, agent: false };
    const sent = request({ ...options, method: form === undefined ? "GET" : "POST" }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    sent.on("error", reject);
    sent.end(form);
  });
}

/**
 * Creates a site and a second environment with different scripts, and the request that pushes the second over the
 * first.
 */
async function prepare(files: PushPart, database: PushPart) {
  const requested = await pushing(files, database).prepare(world);
  const { site, environment: source } = notesOf(requested);
  for (const [{ id, number }, code] of [
    [site.environment, "old"],
    [source, "new"],
  ] as const) {
    const layout = await world.services.runtime.layout({ id, number });
    if (!layout) throw new Error("The environment does not exist");
    await writeFile(join(layout.documentRoot, "read.php"), readScript(code));
    await writeFile(join(layout.documentRoot, "write.php"), writeScript);
    await writeFile(join(layout.documentRoot, "count.php"), countScript);
  }
  return { requested, site, source };
}

/** Reads and writes until the returned function is called, which returns all responses. */
function traffic(address: string) {
  let isOver = false;
  const reads: Answer[] = [];
  const writes: (Answer & { readonly n: number })[] = [];
  const counts: (Answer & { readonly n: number })[] = [];
  const reader = async () => {
    while (!isOver) reads.push(await fetchPage(address, "/read.php"));
  };
  const writer = async () => {
    for (let n = 0; !isOver; n += 1) writes.push({ n, ...(await fetchPage(address, "/write.php", `n=${n}`)) });
  };
  const counter = async () => {
    for (let n = firstCounted; !isOver; n += 1) counts.push({ n, ...(await fetchPage(address, `/count.php?n=${n}`)) });
  };
  const running = Promise.all([reader(), reader(), writer(), counter()]);
  return async () => {
    isOver = true;
    await running;
    return { reads, writes, counts };
  };
}

function writtenIn(file: string): number[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database.prepare(
      "SELECT option_name AS name FROM wp_options WHERE option_name LIKE 'written\\_%' ESCAPE '\\'",
    );
    return rows.all().map(({ name }) => Number(String(name).slice("written_".length)));
  } finally {
    database.close();
  }
}

/** The numbers in the backup that the push made. */
async function writtenInBackup(environmentId: string): Promise<number[]> {
  const { database, archives } = world.services;
  const backup = await findNewestBackup(database, environmentId);
  if (backup === null) throw new Error("There is no backup");
  const folder = await mkdtemp(join(tmpdir(), "swbackup-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const restored = join(folder, "restored");
  await archives.restore(backup, restored, () => true, new AbortController().signal);
  return writtenIn(join(restored, "database", "wordpress.sqlite"));
}

async function pushUnderTraffic(files: PushPart, database: PushPart) {
  const { requested, site, source } = await prepare(files, database);
  expect(await fetchPage(site.address, "/read.php")).toEqual({ status: 200, body: `old|${site.name}|end` });
  const stop = traffic(site.address);
  const row = await withEngine(world, (table) => table.submit(requested));
  const afterwards = await fetchPage(site.address, "/read.php");
  expect(afterwards.body).toMatch(/^new\|/);
  const { reads, writes, counts } = await stop();
  expect(new Set(counts.map(({ status, body }) => `${status} ${body}`))).toEqual(new Set(["200 counted"]));
  expect(row).toMatchObject({ state: "succeeded", public_error: null });
  const layout = await world.services.runtime.layout(site.environment);
  if (!layout) throw new Error("The environment is gone");
  const current = join(layout.documentRoot, "..", "..", String(layout.release), "database", "wordpress.sqlite");
  const saved = [...writes.filter(({ body }) => body === "saved"), ...counts].map(({ n }) => n);
  return { site, source, reads: [...reads, afterwards], writes, saved, inUse: writtenIn(current) };
}

const newTitle = (source: { readonly id: string }) => titleOf({ id: source.id, number: 0, address: "" });

test("a push of everything: visitors see the old or the new site, and every saved write is in the site or its backup", async () => {
  const { site, source, reads, writes, saved, inUse } = await pushUnderTraffic("all", "all");
  const seen = new Set(reads.map(({ status, body }) => `${status} ${body}`));
  expect([...seen].toSorted()).toEqual([`200 new|${newTitle(source)}|end`, `200 old|${site.name}|end`]);
  expect(new Set(writes.map(({ status }) => status))).toEqual(new Set([200, 503]));
  const kept = new Set([...(await writtenInBackup(site.environment.id)), ...inUse]);
  expect(saved.filter((n) => !kept.has(n))).toEqual([]);
  for (const { status, body } of writes) if (status === 503) expect(body).toContain("Back in a moment");
});

test("a push of only the files loses no saved writes", async () => {
  const { site, reads, saved, inUse } = await pushUnderTraffic("all", "none");
  const seen = new Set(reads.map(({ status, body }) => `${status} ${body}`));
  expect([...seen].toSorted()).toEqual([`200 new|${site.name}|end`, `200 old|${site.name}|end`]);
  expect(inUse.toSorted((a, b) => a - b)).toEqual(saved);
});

test("a push of one file and one table keeps the target's other data, including writes during the push", async () => {
  const { site, reads, saved, inUse } = await pushUnderTraffic(["read.php"], ["wp_posts"]);
  const seen = new Set(reads.map(({ status, body }) => `${status} ${body}`));
  expect([...seen].toSorted()).toEqual([`200 new|${site.name}|end`, `200 old|${site.name}|end`]);
  expect(inUse.toSorted((a, b) => a - b)).toEqual(saved);
});

/** Adds a plugin that writes to the database on its first page. */
async function addUpgradingPlugin(environment: { readonly id: string; readonly number: number }, afterwards: string) {
  const layout = await world.services.runtime.layout(environment);
  if (!layout) throw new Error("The environment does not exist");
  const folder = join(layout.documentRoot, "wp-content", "mu-plugins");
  await mkdir(folder, { recursive: true });
  const code = `<?php add_action( 'init', function () { add_option( 'written_1', '1' ); ${afterwards} } );`;
  await writeFile(join(folder, "upgrade.php"), code);
}

function databaseOf(site: { readonly environment: { readonly id: string } }): string {
  return join(world.facts.dataFolder, "environments", site.environment.id, "current", "database", "wordpress.sqlite");
}

test("a pushed plugin that changes the database and then fails does not change live data", async () => {
  const { requested, site, source } = await prepare("all", "none");
  await addUpgradingPlugin(source, "throw new Error( 'half upgraded' );");
  const row = await withEngine(world, (table) => table.submit(requested));
  expect(row.state).toBe("failed");
  expect(row.public_error).toContain("half upgraded");
  expect(writtenIn(databaseOf(site))).toEqual([]);
  expect((await fetchPage(site.address, "/read.php")).body).toBe(`old|${site.name}|end`);
});

test("a pushed plugin changes the live database only after the switch", async () => {
  const { requested, site, source } = await prepare("all", "none");
  await addUpgradingPlugin(source, "");
  const before: number[] = [];
  const { runtime } = world.services;
  const services = {
    ...world.services,
    runtime: {
      ...runtime,
      switchTo: async (...parameters: Parameters<typeof runtime.switchTo>) => {
        before.push(...writtenIn(databaseOf(site)));
        await runtime.switchTo(...parameters);
      },
    },
  };
  const row = await withEngine({ ...world, services }, (table) => table.submit(requested));
  expect(row).toMatchObject({ state: "succeeded", public_error: null });
  expect(before).toEqual([]);
  expect((await fetchPage(site.address, "/read.php")).body).toBe(`new|${site.name}|end`);
  expect(writtenIn(databaseOf(site))).toEqual([1]);
});

test("a plugin that changes data and then fails on another PHP version does not change live data", async () => {
  const requested = await modifyingPhpVersion.prepare(world);
  const { site } = notesOf(requested);
  const on84 = "if ( PHP_VERSION_ID < 80400 ) return; file_put_contents( __DIR__ . '/left.txt', 'x' );";
  const layout = await world.services.runtime.layout(site.environment);
  const folder = join(layout?.documentRoot ?? "", "wp-content", "mu-plugins");
  const fails = `${on84} add_option( 'written_2', '1' ); throw new Error( 'not on 8.4' );`;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "upgrade.php"), `<?php add_action( 'init', function () { ${fails} } );`);
  const row = await withEngine(world, (table) => table.submit(requested));
  expect(row).toMatchObject({ state: "failed", public_error: expect.stringContaining("not on 8.4") });
  expect(writtenIn(databaseOf(site))).toEqual([]);
  expect(await readdir(folder)).not.toContain("left.txt");
  expect((await fetchPage(site.address, "/")).status).toBe(200);
});
