import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { passwordDigest } from "../password.ts";
import { firstRelease, releaseFolder, writeRecord } from "../releases.ts";
import { RuntimeFailure } from "../runtime.ts";
import { sqliteDatabase } from "../sqlite/sqliteDatabase.ts";
import { setAdminPassword } from "./adminPassword.ts";
import type { ReleaseRecord } from "./release.ts";
import { noPassword } from "./values/passwordHash.ts";

const digest = passwordDigest("correct horse");
let live = "";
let database: DatabaseSync;

beforeEach(async () => {
  live = await mkdtemp(path.join(tmpdir(), "password-"));
  const release = releaseFolder(live, 1);
  await mkdir(path.join(release, "database"), { recursive: true });
  const record: ReleaseRecord = { ...firstRelease, wordpressVersion: "7.1.1", multisite: null, core: "core" };
  await writeRecord(release, record);
  await symlink(path.join("releases", "1"), path.join(live, "current"));
  database = new DatabaseSync(path.join(release, "database", "wordpress.sqlite"));
  database.exec("CREATE TABLE wp_users (ID INTEGER PRIMARY KEY, user_pass TEXT)");
  database.prepare("INSERT INTO wp_users VALUES (1, ?), (2, ?)").run(noPassword, noPassword);
});
afterEach(async () => {
  database.close();
  await rm(live, { recursive: true });
});

function setPassword(id = path.basename(live)): Promise<void> {
  const context = { environments: path.dirname(live), database: sqliteDatabase };
  return setAdminPassword({ id, number: 1 }, digest, context);
}

const stored = () => database.prepare("SELECT user_pass AS hash FROM wp_users ORDER BY ID").all();

test("only the first administrator gets a password", async () => {
  await setPassword();
  expect(stored()).toEqual([{ hash: expect.stringMatching(/^\$wp\$2y\$10\$.{53}$/) }, { hash: noPassword }]);
});

test("an existing password stays", async () => {
  database.exec("UPDATE wp_users SET user_pass = 'theirs' WHERE ID = 1");
  await setPassword();
  expect(stored()).toEqual([{ hash: "theirs" }, { hash: noPassword }]);
});

test("waits for a writer without blocking the process", async () => {
  database.exec("BEGIN IMMEDIATE; INSERT INTO wp_users VALUES (3, 'x')");
  const set = setPassword();
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
    if (turns === 50) database.exec("COMMIT");
  }, 5);
  await set.finally(() => clearInterval(counting));
  expect(turns).toBeGreaterThanOrEqual(50);
  expect(stored()).toHaveLength(3);
  expect(stored()[0]).not.toEqual({ hash: noPassword });
}, 30_000);

test("reports a missing environment", async () => {
  await expect(setPassword("elsewhere")).rejects.toThrow(RuntimeFailure);
});
