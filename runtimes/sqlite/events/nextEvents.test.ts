import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { CronEvents, EnvironmentRef } from "../../runtime.ts";
import { giveToEnvironment } from "../../site/release.ts";
import { createEventReader, type Reading } from "./nextEvents.ts";

const never = new AbortController().signal;
let root: string;
let made = 0;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "next-"));
  onTestFinished(() => rm(root, { recursive: true }));
});

const listDueAt = (seconds: number) => `a:1:{i:${seconds};a:1:{s:1:"x";a:1:{s:1:"k";a:0:{}}}}`;
const fileOf = ({ id }: EnvironmentRef) => path.join(root, id, "releases/1/database/wordpress.sqlite");

async function environment(): Promise<EnvironmentRef> {
  made += 1;
  const one = { id: `site-${made}`, number: made };
  for (const part of ["public", "database"])
    await mkdir(path.join(root, one.id, "releases/1", part), { recursive: true });
  await symlink("releases/1", path.join(root, one.id, "current"));
  await giveToEnvironment(one, path.join(root, one.id));
  return one;
}

function write(one: EnvironmentRef, sql: string): void {
  const database = new DatabaseSync(fileOf(one));
  database.exec(sql);
  database.close();
}

/** Makes the last write look old. */
const settle = (one: EnvironmentRef, second = 1) => utimes(fileOf(one), second, second);

async function site(seconds: number): Promise<EnvironmentRef> {
  const one = await environment();
  write(
    one,
    `CREATE TABLE wp_options (option_name TEXT, option_value TEXT);
    INSERT INTO wp_options VALUES ('cron', '${listDueAt(seconds)}')`,
  );
  await settle(one);
  return one;
}

const plan = (one: EnvironmentRef, seconds: number) =>
  write(one, `UPDATE wp_options SET option_value = '${listDueAt(seconds)}'`);

test("changes are noticed at the next call", async () => {
  const [one, other, reader] = [await site(5), await site(7), createEventReader(root)];
  const due = async () => [...(await reader.next([one, other], never)).values()].map(({ events }) => events[0]?.dueAt);
  expect(await due()).toEqual([5_000, 7_000]);
  plan(one, 6);
  expect(await due()).toEqual([6_000, 7_000]);
  plan(one, 8);
  expect(await due()).toEqual([8_000, 7_000]);
  await settle(one);
  expect(await due()).toEqual([8_000, 7_000]);
});

test("an unchanged file is not read again", async () => {
  const [one, reader] = [await site(5), createEventReader(root)];
  const due = async (signal: AbortSignal) => (await reader.next([one], signal)).get(one.id)?.events[0]?.dueAt;
  expect(await due(never)).toBe(5_000);
  // Reading would be aborted.
  expect(await due(AbortSignal.abort())).toBe(5_000);
  plan(one, 6);
  await expect(due(AbortSignal.abort())).rejects.toThrow();
});

test("the next release's database is read", async () => {
  const [one, reader] = [await site(5), createEventReader(root)];
  await reader.next([one], never);
  const next = path.join(root, one.id, "releases/2/database");
  await mkdir(next, { recursive: true });
  await giveToEnvironment(one, path.join(root, one.id));
  await copyFile(fileOf(one), path.join(next, "wordpress.sqlite"));
  const database = new DatabaseSync(path.join(next, "wordpress.sqlite"));
  database.exec(`UPDATE wp_options SET option_value = '${listDueAt(9)}'`);
  database.close();
  await rm(path.join(root, one.id, "current"));
  await symlink("releases/2", path.join(root, one.id, "current"));
  expect((await reader.next([one], never)).get(one.id)?.events).toEqual([{ place: null, dueAt: 9_000 }]);
});

describe("other sites' events are not hidden by", () => {
  test.each<[string, (file: string) => Promise<unknown>, string]>([
    ["an empty file", (file) => writeFile(file, ""), "no WordPress table wp_options"],
    ["a file that is not a database", (file) => writeFile(file, "nonsense".repeat(1_000)), "can't be read"],
  ])("%s", async (_, spoil, problem) => {
    const [broken, fine, reader] = [await environment(), await site(5), createEventReader(root)];
    await spoil(fileOf(broken));
    const found = await reader.next([broken, fine], never);
    expect(found.get(broken.id)).toEqual({ events: [], problem: expect.stringContaining(problem) });
    expect(found.get(fine.id)?.events).toHaveLength(1);
  });

  test.each<[string, (file: string) => Promise<unknown>]>([
    ["a folder instead of the database", (file) => mkdir(file)],
    ["a link instead of it", (file) => symlink("/etc/passwd", file)],
    ["a link to itself", (file) => symlink(file, file)],
    ["a missing database", async () => undefined],
  ])("%s", async (_, spoil) => {
    const [absent, fine, reader] = [await environment(), await site(5), createEventReader(root)];
    await spoil(fileOf(absent));
    expect([...(await reader.next([absent, fine], never)).keys()]).toEqual([fine.id]);
    expect(await reader.all(absent, never)).toBeNull();
  });
});

test("during a write, the earlier result stays", async () => {
  const [one, reader] = [await site(5), createEventReader(root)];
  await reader.next([one], never);
  const writer = new DatabaseSync(fileOf(one));
  writer.exec("BEGIN EXCLUSIVE");
  await settle(one, 2);
  expect((await reader.next([one], never)).get(one.id)?.events).toEqual([{ place: null, dueAt: 5_000 }]);
  await expect(reader.all(one, never)).rejects.toThrow("Try again in a moment");
  writer.close();
});

test("with an unfinished write of a killed process, an event is due at once: the next writer rolls it back", async () => {
  const [one, reader] = [await site(5_000_000_000), createEventReader(root)];
  const killed = spawn(process.execPath, [
    "-e",
    `const { DatabaseSync } = require("node:sqlite");
     const database = new DatabaseSync(process.argv[1]);
     database.exec("PRAGMA cache_size = 1; BEGIN; UPDATE wp_options SET option_value = hex(zeroblob(500000))");
     process.kill(process.pid, "SIGKILL");`,
    fileOf(one),
  ]);
  await once(killed, "exit");
  expect((await reader.next([one], never)).get(one.id)).toEqual({ events: [{ place: null, dueAt: 0 }], problem: null });
  write(one, "DELETE FROM wp_options WHERE option_name = 'nothing'");
  expect((await reader.next([one], never)).get(one.id)?.events).toEqual([{ place: null, dueAt: 5e12 }]);
});

test("rejects when aborted", async () => {
  const [one, reader] = [await site(5), createEventReader(root)];
  await expect(reader.next([one], AbortSignal.abort())).rejects.toThrow();
});

/** A reader whose reads the test ends. Its databases are due at 5 s. */
function makeReader({ batchSize = 1 } = {}) {
  const reads: { readonly ids: readonly string[]; end(): void; fail(): void }[] = [];
  const read = ({ due }: Reading) =>
    new Promise<readonly CronEvents[]>((resolve, reject) => {
      const event = { hook: "x", dueAt: 5_000, recurrence: null, intervalSeconds: null, args: [] };
      const found = { sites: [{ place: null, events: [event] }], problem: null };
      const ids = due.map(({ environment }) => environment.id);
      reads.push({ ids, end: () => resolve(due.map(() => found)), fail: () => reject(new Error("It never ended.")) });
    });
  const enough = Promise.withResolvers<void>();
  const reader = createEventReader(root, { read, batchSize, wait: () => enough.promise });
  const readOf = (id: string) => reads.find(({ ids }) => ids.includes(id));
  const begun = async (id: string) => {
    await expect.poll(() => readOf(id)).toBeDefined();
    return readOf(id);
  };
  const idsOf = async (wanted: readonly EnvironmentRef[]) => [...(await reader.next(wanted, never)).keys()];
  return { reader, reads, begun, idsOf, stopWaiting: enough.resolve };
}

/** Companies share turns with other tests, so each test has its own. */
async function sitesOf(companyId: string, count: number): Promise<EnvironmentRef[]> {
  return Promise.all(Array.from({ length: count }, async () => ({ ...(await site(5)), companyId })));
}

test("a database that never ends delays no other company's events", async () => {
  const [hostile, [fine]] = [await sitesOf("hostile", 8), await sitesOf("fine", 1)];
  if (fine === undefined) throw new Error("There is no site.");
  const { reads, begun, idsOf, stopWaiting } = makeReader();
  const found = idsOf([...hostile, fine]);
  (await begun(fine.id))?.end();
  await expect.poll(() => reads.length).toBeLessThan(hostile.length);
  stopWaiting();
  expect(await found).toEqual([fine.id]);
  // They are not read twice.
  expect(await idsOf([...hostile, fine])).toEqual([fine.id]);
  expect(new Set(reads.flatMap(({ ids }) => ids)).size).toBe(reads.length);
  const failAll = async () => {
    for (const each of reads) each.fail();
    return (await idsOf([...hostile, fine])).length;
  };
  await expect.poll(failAll, { timeout: 20_000 }).toBe(hostile.length + 1);
});

test("while a changed database is read, its earlier events are left out", async () => {
  const [one] = await sitesOf("changed", 1);
  if (one === undefined) throw new Error("There is no site.");
  const { reads, begun, idsOf, stopWaiting } = makeReader();
  const first = idsOf([one]);
  (await begun(one.id))?.end();
  expect(await first).toEqual([one.id]);
  await settle(one, 2);
  stopWaiting();
  expect(await idsOf([one])).toEqual([]);
  await expect.poll(() => reads.length).toBe(2);
  reads[1]?.end();
  await expect.poll(() => idsOf([one])).toEqual([one.id]);
  expect(reads).toHaveLength(2);
});

test("if a batch never ends, its databases are read one by one", async () => {
  const sites = await sitesOf("batch", 3);
  const { reads, begun, idsOf } = makeReader({ batchSize: 100 });
  const found = idsOf(sites);
  (await begun(sites[0]?.id ?? ""))?.fail();
  const single = () => reads.filter(({ ids }) => ids.length === 1);
  for (let ended = 0; ended < sites.length; ended += 1) {
    await expect.poll(() => single().length).toBeGreaterThan(ended);
    if (ended === 0) single()[ended]?.fail();
    else single()[ended]?.end();
  }
  expect((await found).toSorted()).toEqual(sites.map(({ id }) => id).toSorted());
  // Neither is read again: one is paused, the others have not changed.
  expect(await idsOf(sites)).toHaveLength(3);
  expect(reads).toHaveLength(4);
});

describe("after a restart", () => {
  const fileIn = () => path.join(root, "kept", "events.json");
  const dueOf = async (one: EnvironmentRef, signal: AbortSignal) =>
    (await createEventReader(root, { file: fileIn() }).next([one], signal)).get(one.id)?.events[0]?.dueAt;

  test("an unchanged database is not read again, a changed one is", async () => {
    const one = await site(5);
    expect(await dueOf(one, never)).toBe(5_000);
    // Reading would be aborted.
    expect(await dueOf(one, AbortSignal.abort())).toBe(5_000);
    plan(one, 6);
    await expect(dueOf(one, AbortSignal.abort())).rejects.toThrow();
    expect(await dueOf(one, never)).toBe(6_000);
  });

  test("a database with a problem is read again: a newer version may be able to", async () => {
    const broken = await environment();
    await writeFile(fileOf(broken), "");
    await settle(broken);
    await dueOf(broken, never);
    await expect(dueOf(broken, AbortSignal.abort())).rejects.toThrow();
  });

  test.each(["", "{", "[1]", '{"site":{"stamp":5}}', "null"])("a damaged file is ignored: %s", async (content) => {
    const one = await site(5);
    await mkdir(path.dirname(fileIn()));
    await writeFile(fileIn(), content);
    expect(await dueOf(one, never)).toBe(5_000);
  });
});
