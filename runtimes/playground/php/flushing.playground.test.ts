import fs from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { bootPhp, type GuardedPhp } from "./boot.ts";
import { flush } from "./flushing.ts";
import { mountFolder } from "./mounts.ts";

const { fsyncSync } = fs;
let php: GuardedPhp;
let folder: string;
/** The paths of all files and folders that were flushed, in order. */
const flushed: string[] = [];

beforeAll(async () => {
  fs.fsyncSync = (descriptor) => {
    flushed.push(fs.readlinkSync(`/proc/self/fd/${descriptor}`));
    fsyncSync(descriptor);
  };
  syncBuiltinESMExports();
  folder = await mkdtemp(path.join(tmpdir(), "flushing-"));
  php = await bootPhp({ version: "8.3", network: () => null, opcodes: null });
  await mountFolder(php, "/mounted", folder, "database");
}, 60_000);

afterAll(async () => {
  fs.fsyncSync = fsyncSync;
  syncBuiltinESMExports();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(() => void flushed.splice(0));

async function run(code: string): Promise<string> {
  return (await php.runStream({ code: `<?php ${code}` })).stdoutText;
}

test("a transaction of SQLite is on disk before it is reported as committed: journal, database, and their folder", async () => {
  await run("$db = new PDO('sqlite:/mounted/db'); $db->exec('CREATE TABLE t (v)');");
  flushed.splice(0);
  const insert = "$db->exec('PRAGMA synchronous = EXTRA'); echo $db->exec('INSERT INTO t VALUES (1)');";
  expect(await run(`$db = new PDO('sqlite:/mounted/db'); ${insert}`)).toBe("1");
  const [journal, database] = [path.join(folder, "db-journal"), path.join(folder, "db")];
  expect(flushed.map((file) => file.replace(" (deleted)", ""))).toEqual([journal, folder, journal, database, folder]);
});

test("PHP's own functions flush a file, and memory has nothing to flush", async () => {
  const functions = "fwrite($file, 'x'); echo json_encode([fsync($file), fdatasync($file)]);";
  expect(await run(`$file = fopen('/mounted/file', 'w'); ${functions}`)).toBe("[true,true]");
  expect(flushed).toEqual([path.join(folder, "file"), path.join(folder, "file")]);
  expect(await run(`$file = fopen('/internal/file', 'w'); ${functions}`)).toBe("[true,true]");
  expect(flushed).toHaveLength(2);
});

test("errors are reported to PHP", () => {
  expect(flush({ getStream: () => null }, 3)).toBe(8);
  fs.fsyncSync = fsyncSync;
  syncBuiltinESMExports();
  const closed = fs.openSync(folder, "r");
  fs.closeSync(closed);
  expect(flush({ getStream: () => ({ nfd: closed }) }, 3)).toBe(8);
  // A file that has nothing to flush.
  const random = fs.openSync("/dev/urandom", "r");
  expect(flush({ getStream: () => ({ nfd: random }) }, 3)).toBe(28);
  fs.closeSync(random);
  fs.fsyncSync = () => {
    throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
  };
  syncBuiltinESMExports();
  expect(flush({ getStream: () => ({ nfd: closed }) }, 3)).toBe(51);
});
