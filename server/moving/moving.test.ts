import { randomUUID } from "node:crypto";
import { copyFile, mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { countActivity } from "../store/company/activityCounts.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { fillInstallation, type LiveSite, leaveUnfinished, rowsOf } from "../testing/installation.ts";
import { describeSchema } from "../testing/schema.ts";
import { makeWorld, type World } from "../testing/world.ts";
import { type BackupResult, backupInstallation } from "./backupInstallation.ts";
import { readDataFolderFiles, writeDataFolderFiles } from "./dataFolderFiles.ts";
import { openSealed, sealFile } from "./envelope.ts";
import { countRows, formatVersion, readEntries, readHeader, writeBackup } from "./format.ts";
import { migrationsFor, restoreDatabase, tablesIn } from "./restoreDatabase.ts";

const passphrase = "correct horse battery";
/** Deriving the key must not slow down the tests. */
const cheap = { passphrase, isForced: false, workFactor: 4 };

let world: World;
let folder: string;
let file: string;
let made: BackupResult;
let kept: LiveSite;
let bare: LiveSite;

beforeAll(async () => {
  world = await makeWorld();
  folder = await mkdtemp(join(tmpdir(), "swmoving-"));
  file = join(folder, "installation.backup");
  ({ kept, bare } = await fillInstallation(world));
  made = await backUpTo(file);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function backUpTo(path: string): Promise<BackupResult> {
  const readFields = async () => {
    const files = await readDataFolderFiles(world.facts.dataFolder);
    return { files, settings: {}, archives: "the folder", archiveFolder: null };
  };
  return backupInstallation(world.own.pool, readFields, { ...cheap, file: path });
}

async function emptyDatabase(): Promise<TestDatabase> {
  const own = await createTestDatabase({ template: "template0" });
  onTestFinished(own.drop);
  return own;
}

const id = randomUUID();

/** Restores into `own` or an empty database. Returns the database. */
async function restoreFrom(path: string, own?: TestDatabase, finish = async () => undefined): Promise<TestDatabase> {
  const target = own ?? (await emptyDatabase());
  const sealed = await openSealed(path, passphrase);
  const header = await readHeader(sealed);
  const restore = { id, madeAt: new Date(header.madeAt) };
  expect(await restoreDatabase(target.pool, sealed, header, { restore, finish })).toEqual([]);
  return target;
}

/** The check that a restore makes before it changes anything. */
async function check(path: string): Promise<void> {
  const sealed = await openSealed(path, passphrase);
  await migrationsFor(await readHeader(sealed));
  for await (const entry of readEntries(sealed)) void entry;
}

describe("a backup of the installation", () => {
  test("is one encrypted file, readable by its owner only", async () => {
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(["installation.backup"]);
    const bytes = await readFile(file);
    expect(bytes.length).toBe(made.bytes);
    expect(bytes.toString("latin1")).toMatch(/^age-encryption\.org\/v1\n-> scrypt /);
    expect(bytes.toString("latin1")).not.toContain(kept.name);
  });

  test("reports its content, and the age of each environment's newest backup", () => {
    expect(made.counts).toMatchObject({ companies: 2, sites: 2, environments: 2, backups: 1 });
    const byName = new Map(made.environments.map((each) => [each.site, each]));
    expect(byName.get(kept.name)?.madeAt).toBeInstanceOf(Date);
    expect(byName.get(bare.name)).toMatchObject({ backupId: null, madeAt: null });
  });

  test("does not replace an existing file unless forced", async () => {
    const path = join(folder, "there");
    onTestFinished(() => rm(path));
    await writeFile(path, "mine");
    await expect(backUpTo(path)).rejects.toThrow(`${path} already exists. Choose another file, or add --force`);
    expect(await readFile(path, "utf8")).toBe("mine");
    await sealFile({ ...cheap, file: path, isForced: true }, just(Buffer.from("other")));
    expect(await readFile(path, "utf8")).not.toBe("mine");
  });

  test("leaves no file if it fails", async () => {
    const path = join(folder, "broken");
    const breaking = (async function* () {
      yield Buffer.alloc(100_000);
      throw new Error("The database went away");
    })();
    await expect(sealFile({ ...cheap, file: path }, breaking)).rejects.toThrow("The database went away");
    expect(await readdir(folder)).toEqual(["installation.backup"]);
  });

  test("is refused if the folder does not exist", async () => {
    await expect(backUpTo(join(folder, "none", "file"))).rejects.toThrow(`There is no folder ${folder}/none.`);
  });
});

describe("a restore", () => {
  test("restores every row of every table, in the same schema", async () => {
    const restored = await restoreFrom(file);
    const before = await rowsOf(world.own.pool);
    const after = await rowsOf(restored.pool);
    // These two differ, since they record the restore.
    const { environments: _, restores: __, ...rest } = before;
    expect(after).toMatchObject(rest);
    expect(Object.keys(after)).toEqual(Object.keys(before));
    expect(after.environments?.length).toBe(before.environments?.length);
    expect(after.restores?.length).toBe(1);
    expect(await describeSchema(restored.pool)).toBe(await describeSchema(world.own.pool));
  });

  test("counts the entries of the activity log again", async () => {
    const { pool } = world.own;
    await pool.query(`insert into activity (id, company_id, category, type) overriding system value
      select row_number() over (), id, 'billing', 'counted' from companies`);
    onTestFinished(async () => void (await pool.query("delete from activity where type = 'counted'")));
    await countActivity(world.own.database);
    const path = join(folder, "counted");
    await backUpTo(path);
    const restored = await restoreFrom(path);
    await rm(path);
    const read = "select * from activity_counts order by company_id, list, value, block";
    await countActivity(restored.database);
    const { rows } = await restored.pool.query(read);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows).toEqual((await pool.query(read)).rows);
  });

  test("restores the sequences", async () => {
    const restored = await restoreFrom(file);
    const last = "select sequencename, last_value from pg_sequences where schemaname = 'public' order by 1";
    expect((await restored.pool.query(last)).rows).toEqual((await world.own.pool.query(last)).rows);
  });

  test("leaves environments waiting for their rebuild, and not served", async () => {
    const { database } = await restoreFrom(file);
    const rows = await database.selectFrom("environments").select(["state", "awaits_rebuild"]).execute();
    expect(rows).toEqual([
      { state: "restoring", awaits_rebuild: true },
      { state: "restoring", awaits_rebuild: true },
    ]);
  });

  test("fails unfinished operations and releases their locks and names", async () => {
    const unfinished = await leaveUnfinished(world, bare);
    const path = join(folder, "unfinished");
    await backUpTo(path);
    const { database } = await restoreFrom(path);
    await rm(path);
    const operations = await database.selectFrom("operations").selectAll().execute();
    for (const operation of operations) {
      expect(operation).toMatchObject({ state: "failed", secret: null, step: null });
      expect(operation.public_error).toContain("The installation was restored from a backup");
      expect(operation.finished_at).toBeInstanceOf(Date);
    }
    expect(operations.map(({ kind }) => kind).sort()).toEqual(["addManualBackup", "restartPhp"]);
    const entries = await database.selectFrom("activity").select(["is_done", "has_failed"]).execute();
    expect(entries).toEqual([
      { is_done: true, has_failed: true },
      { is_done: true, has_failed: true },
    ]);
    for (const table of ["environment_locks", "operation_wants"] as const) {
      expect(await database.selectFrom(table).selectAll().execute()).toEqual([]);
    }
    const sites = await database.selectFrom("sites").select(["id", "state"]).execute();
    expect(sites.map((site) => site.id).sort()).toEqual([kept.siteId, bare.siteId].sort());
    expect(sites.every(({ state }) => state === "live")).toBe(true);
    expect(sites.map((site) => site.id)).not.toContain(unfinished.input.siteId);
    const environments = await database.selectFrom("environments").select(["state", "is_frozen"]).execute();
    expect(environments.every(({ state, is_frozen }) => state === "restoring" && !is_frozen)).toBe(true);
    const backups = await database.selectFrom("backups").select("name").execute();
    expect(backups).toEqual([{ name: "then" }]);
  });

  test("migrates a backup of an earlier version", async () => {
    const early = await emptyDatabase();
    const sealed = await openSealed(file, passphrase);
    const header = await readHeader(sealed);
    const companyId = randomUUID();
    const entries = (async function* () {
      yield { kind: "table", table: { name: "companies", columns: ["id", "name", "created_at"] } } as const;
      yield { kind: "row", line: JSON.stringify([companyId, "Early", "2026-01-01 00:00:00+00"]) } as const;
    })();
    const path = join(folder, "early");
    const content = writeBackup({ ...header, migrations: ["0001-first"] }, entries, countRows());
    await sealFile({ ...cheap, file: path }, content);
    const { database, pool } = await restoreFrom(path, early);
    await rm(path);
    expect(await database.selectFrom("companies").select(["id", "name"]).execute()).toEqual([
      { id: companyId, name: "Early" },
    ]);
    expect(await describeSchema(pool)).toBe(await describeSchema(world.own.pool));
  });

  test("restores the keys, readable by their owner only", async () => {
    const data = join(folder, "data");
    onTestFinished(() => rm(data, { recursive: true }));
    const header = await readHeader(await openSealed(file, passphrase));
    await writeDataFolderFiles(data, header.files);
    for (const name of ["secrets/key", "secrets/archive-key", "first-run.json"]) {
      expect(await readFile(join(data, name))).toEqual(await readFile(join(world.facts.dataFolder, name)));
      expect((await stat(join(data, name))).mode & 0o777).toBe(0o600);
    }
  });

  test("refuses files with paths outside their folder", async () => {
    const evil = { "secrets/../../evil": "", "secrets/key": "" };
    await expect(writeDataFolderFiles(folder, evil)).rejects.toThrow("with an unexpected path: secrets/../../evil");
  });
});

describe("a file that can't be restored", () => {
  async function changed(change: (path: string, bytes: number) => Promise<void>): Promise<string> {
    const path = join(folder, "changed");
    await copyFile(file, path);
    onTestFinished(() => rm(path, { force: true }));
    await change(path, (await stat(file)).size);
    return path;
  }

  test("is reported if the passphrase is wrong", async () => {
    await expect(openSealed(file, "wrong horse battery")).rejects.toThrow(/The passphrase is wrong for .*installation/);
  });

  test.each([0, 0.001, 0.01, 0.2, 0.5, 0.9, 0.999])(
    "is reported if it is truncated to %d of its length",
    async (share) => {
      const path = await changed((place, bytes) => truncate(place, Math.floor(bytes * share)));
      await expect(check(path)).rejects.toThrow(/damaged|truncated/);
    },
  );

  test.each([0.1, 0.3, 0.6, 0.95])("is reported if one bit is flipped at %d of its length", async (share) => {
    const path = await changed(async (place, bytes) => {
      const at = Math.floor(bytes * share);
      const handle = await open(place, "r+");
      const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, at);
      await handle.write(Buffer.of((buffer[0] ?? 0) ^ 1), 0, 1, at);
      await handle.close();
    });
    await expect(check(path)).rejects.toThrow(/damaged|truncated/);
  });

  test("is reported if the content was truncated before it was encrypted", async () => {
    const path = join(folder, "early-end");
    onTestFinished(() => rm(path));
    const lines: Buffer[] = [];
    const sealed = await openSealed(file, passphrase);
    for await (const chunk of sealed.content()) lines.push(Buffer.from(chunk));
    const whole = Buffer.concat(lines);
    await sealFile({ ...cheap, file: path }, just(whole.subarray(0, whole.length - 200)));
    await expect(check(path)).rejects.toThrow(/incomplete|damaged/);
  });

  test("is reported if it is not a backup or does not exist", async () => {
    const path = join(folder, "note");
    onTestFinished(() => rm(path));
    await writeFile(path, "Dear diary\n");
    await expect(check(path)).rejects.toThrow(`${path} is not a backup of an installation`);
    await expect(check(join(folder, "none"))).rejects.toThrow("does not exist");
    await expect(check(folder)).rejects.toThrow("is not a backup of an installation");
  });

  test.each([
    [{ migrations: ["0001-first", "9999-future"] }, "the migration 9999-future is unknown"],
    [{ version: formatVersion + 1 }, "made by a newer version of Sitewright"],
  ])("is reported if it is newer than this version: %j", async (more, message) => {
    const path = join(folder, "newer");
    onTestFinished(() => rm(path));
    const header = await readHeader(await openSealed(file, passphrase));
    const text = `${JSON.stringify({ ...header, ...more })}\n`;
    await sealFile({ ...cheap, file: path }, just(gzipSync(text)));
    await expect(check(path)).rejects.toThrow(message);
  });

  test("leaves an empty database empty, so that a restore can be repeated", async () => {
    const own = await emptyDatabase();
    const breaking = async () => {
      throw new Error("The disk is full");
    };
    await expect(restoreFrom(file, own, breaking)).rejects.toThrow("The disk is full");
    expect(await tablesIn(own.pool)).toEqual([]);
    await restoreFrom(file, own);
    expect(await tablesIn(own.pool)).toContain("sites");
  });
});

async function* just(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
