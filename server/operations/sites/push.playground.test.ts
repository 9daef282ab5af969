/** Pushes with real WordPress under load: visitors see no errors and no mixture, and no writes are lost. */
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import type { EnvironmentRef } from "@sitewright/runtimes/runtime.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { findNewestBackup } from "../../store/backups/backups.ts";
import { notesOf, pushing, titleOf } from "../../testing/environments.ts";
import { makePlaygroundWorld } from "../../testing/playground.ts";
import { withEngine } from "../../testing/withEngine.ts";
import type { World } from "../../testing/world.ts";
import type { OperationRequest } from "../engine/accept.ts";
import type { PushInput, PushPart } from "./pushEnvironment.ts";

let world: World;
let pushed: OperationRequest;
let site: Notes["site"];
let source: Notes["environment"];
beforeAll(async () => {
  world = await makePlaygroundWorld();
  pushed = await pushing("all", "all").prepare(world);
  ({ site, environment: source } = notesOf(pushed));
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

type Notes = ReturnType<typeof notesOf>;

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

async function rootOf({ id, number }: EnvironmentRef): Promise<string> {
  const layout = await world.services.runtime.layout({ id, number });
  if (!layout) throw new Error("The environment does not exist");
  return layout.documentRoot;
}

function databaseOf({ environment }: Notes["site"]): string {
  return join(world.facts.dataFolder, "environments", environment.id, "current", "database", "wordpress.sqlite");
}

const upgradePlugin = "wp-content/mu-plugins/upgrade.php";

/**
 * Writes different scripts into the two environments, and removes what earlier tests have left. Returns the request that
 * pushes the second environment over the first.
 */
async function prepare(files: PushPart, database: PushPart): Promise<OperationRequest> {
  for (const [environment, code] of [
    [site.environment, "old"],
    [source, "new"],
  ] as const) {
    const root = await rootOf(environment);
    await writeFile(join(root, "read.php"), readScript(code));
    await writeFile(join(root, "write.php"), writeScript);
    await writeFile(join(root, "count.php"), countScript);
    await rm(join(root, upgradePlugin), { force: true });
  }
  const live = new DatabaseSync(databaseOf(site));
  live.exec(`DELETE FROM wp_options WHERE ${isWritten}`);
  live.close();
  const input: PushInput = Object(pushed.input);
  return { ...pushed, input: { ...input, token: randomUUID(), files, database } };
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

const isWritten = "option_name LIKE 'written\\_%' ESCAPE '\\'";

function writtenIn(file: string): number[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database.prepare(`SELECT option_name AS name FROM wp_options WHERE ${isWritten}`);
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
  const requested = await prepare(files, database);
  expect(await fetchPage(site.address, "/read.php")).toEqual({ status: 200, body: `old|${site.name}|end` });
  const stop = traffic(site.address);
  const row = await withEngine(world, (harness) => harness.submit(requested));
  const afterwards = await fetchPage(site.address, "/read.php");
  expect(afterwards.body).toMatch(/^new\|/);
  const { reads, writes, counts } = await stop();
  expect(new Set(counts.map(({ status, body }) => `${status} ${body}`))).toEqual(new Set(["200 counted"]));
  expect(row).toMatchObject({ state: "succeeded", public_error: null });
  const saved = [...writes.filter(({ body }) => body === "saved"), ...counts].map(({ n }) => n);
  return { reads: [...reads, afterwards], writes, saved, inUse: writtenIn(databaseOf(site)) };
}

test("a push of only the files loses no saved writes", async () => {
  const { reads, saved, inUse } = await pushUnderTraffic("all", "none");
  const seen = new Set(reads.map(({ status, body }) => `${status} ${body}`));
  expect([...seen].toSorted()).toEqual([`200 new|${site.name}|end`, `200 old|${site.name}|end`]);
  expect(inUse.toSorted((a, b) => a - b)).toEqual(saved);
});

test("a push of one file and one table keeps the target's other data, including writes during the push", async () => {
  const { reads, saved, inUse } = await pushUnderTraffic(["read.php"], ["wp_posts"]);
  const seen = new Set(reads.map(({ status, body }) => `${status} ${body}`));
  expect([...seen].toSorted()).toEqual([`200 new|${site.name}|end`, `200 old|${site.name}|end`]);
  expect(inUse.toSorted((a, b) => a - b)).toEqual(saved);
});

/** Adds a plugin that runs the code on each page. */
async function addPlugin(environment: EnvironmentRef, code: string): Promise<void> {
  const file = join(await rootOf(environment), upgradePlugin);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `<?php add_action( 'init', function () { ${code} } );`);
}

test("a pushed plugin that changes the database and then fails does not change live data", async () => {
  const requested = await prepare("all", "none");
  await addPlugin(source, "add_option( 'written_1', '1' ); throw new Error( 'half upgraded' );");
  const row = await withEngine(world, (harness) => harness.submit(requested));
  expect(row.state).toBe("failed");
  expect(row.public_error).toContain("half upgraded");
  expect(writtenIn(databaseOf(site))).toEqual([]);
  expect((await fetchPage(site.address, "/read.php")).body).toBe(`old|${site.name}|end`);
});

test("a pushed plugin changes the live database only after the switch", async () => {
  const requested = await prepare("all", "none");
  await addPlugin(source, "add_option( 'written_1', '1' );");
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
  const row = await withEngine({ ...world, services }, (harness) => harness.submit(requested));
  expect(row).toMatchObject({ state: "succeeded", public_error: null });
  expect(before).toEqual([]);
  expect((await fetchPage(site.address, "/read.php")).body).toBe(`new|${site.name}|end`);
  expect(writtenIn(databaseOf(site))).toEqual([1]);
});

test("a plugin that changes data and then fails on another PHP version does not change live data", async () => {
  const requested = await prepare("all", "none");
  const on84 = "if ( PHP_VERSION_ID < 80400 ) return; file_put_contents( __DIR__ . '/left.txt', 'x' );";
  await addPlugin(site.environment, `${on84} add_option( 'written_2', '1' ); throw new Error( 'not on 8.4' );`);
  const { environment, address } = site;
  const input = { environment, to: "8.4", address, isOptOut: true, onlyFrom: null };
  const row = await withEngine(world, (harness) =>
    harness.submit({ ...requested, kind: "modifyPhpVersion", locks: [environment.id], input }),
  );
  expect(row).toMatchObject({ state: "failed", public_error: expect.stringContaining("not on 8.4") });
  expect(writtenIn(databaseOf(site))).toEqual([]);
  expect(await readdir(join(await rootOf(environment), dirname(upgradePlugin)))).not.toContain("left.txt");
  expect((await fetchPage(site.address, "/read.php")).status).toBe(200);
});

test("a push of everything: visitors see the old or the new site, and every saved write is in the site or its backup", async () => {
  const { reads, writes, saved, inUse } = await pushUnderTraffic("all", "all");
  const seen = new Set(reads.map(({ status, body }) => `${status} ${body}`));
  expect([...seen].toSorted()).toEqual([`200 new|${titleOf(source)}|end`, `200 old|${site.name}|end`]);
  expect(new Set(writes.map(({ status }) => status))).toEqual(new Set([200, 503]));
  const kept = new Set([...(await writtenInBackup(site.environment.id)), ...inUse]);
  expect(saved.filter((n) => !kept.has(n))).toEqual([]);
  for (const { status, body } of writes) if (status === 503) expect(body).toContain("Back in a moment");
});
