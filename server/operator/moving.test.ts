/** The commands that move an installation, run as processes with their own PostgreSQL. */
import { type ChildProcess, execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { withStartedDatabase } from "@sitewright/supervisor/postgres/ownDatabase.ts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { origin } from "../audit/chain.ts";
import { writeHeads } from "../audit/heads.ts";
import { addKey } from "../keyFile.ts";
import { openSealed, sealFile } from "../moving/envelope.ts";
import { readHeader } from "../moving/format.ts";
import { readEnvironment } from "../sealedSettings.ts";
import { loadConfig } from "../settings/config.ts";
import { sealingLock } from "../store/company/activitySeals.ts";
import { openPool } from "../store/open.ts";
import { rotationLock } from "../store/sealedValues.ts";
import { createTestDatabase } from "../testing/database.ts";
import { fillInstallation, type LiveSite, rowsOf } from "../testing/installation.ts";
import { makeWorld, type World } from "../testing/world.ts";

const program = join(import.meta.dirname, "../operator.ts");
const passphrase = "correct horse battery";

let world: World;
let folder: string;
let file: string;
/** The content of `file`. Its passphrase is cheap to check, for tests that restore many times. */
let cheapFile: string;
let firstBackup: Outcome;
let kept: LiveSite;
let bare: LiveSite;

interface Outcome {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

type Settings = Readonly<Record<string, string>>;

function start(given: readonly string[], settings: Settings): { child: ChildProcess; outcome: Promise<Outcome> } {
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    INIT_CWD: folder,
    SITEWRIGHT_BACKUP_PASSPHRASE: passphrase,
    ...settings,
  };
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>();
  const child = execFile(process.execPath, [program, ...given], { env }, (error, output, errors) => {
    resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, output, errors });
  });
  return { child, outcome };
}

function operator(given: readonly string[], settings: Settings): Promise<Outcome> {
  return start(given, settings).outcome;
}

/** A data folder that does not exist yet, with a folder for its sockets. */
function newData(): Settings & { readonly SITEWRIGHT_DATA: string } {
  const name = `data-${Math.random().toString(36).slice(2)}`;
  return { SITEWRIGHT_DATA: join(folder, name), SITEWRIGHT_RUN: join(folder, `${name}-run`) };
}

beforeAll(async () => {
  world = await makeWorld();
  folder = await mkdtemp(join(tmpdir(), "sw-moving-"));
  ({ kept, bare } = await fillInstallation(world));
  const { dataFolder, databaseUrl } = world.facts;
  const lastStart = {
    SITEWRIGHT_EDGE_PORT: "9001",
    SITEWRIGHT_SITE_SUFFIX: "localhost",
    SITEWRIGHT_BACKUP_DAYS: "30",
    SITEWRIGHT_SMTP_URL: "smtp://mailer:hush@mail.example",
  };
  writeFileSync(join(dataFolder, "last-start.json"), JSON.stringify(lastStart));
  file = join(folder, "installation.backup");
  firstBackup = await operator(["backup", "installation.backup"], {
    SITEWRIGHT_DATA: dataFolder,
    DATABASE_URL: databaseUrl,
  });
  cheapFile = join(folder, "cheap.backup");
  const sealed = await openSealed(file, passphrase);
  await sealFile({ file: cheapFile, passphrase, isForced: false, workFactor: 4 }, sealed.content());
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** All rows of the data folder's embedded database. */
function ownRows(settings: Settings) {
  return withStartedDatabase(loadConfig(settings), async (url) => {
    const pool = openPool(url, { connections: 1 });
    const rows = await rowsOf(pool);
    await pool.end();
    return rows;
  });
}

/** All rows except those that record the restore. */
async function movedRows() {
  const { environments: _, restores: __, ...rest } = await rowsOf(world.own.pool);
  return rest;
}

describe("backup", () => {
  test("reports the content of the file, where the rest is, and which environments have no backup", () => {
    expect(firstBackup).toMatchObject({ code: 0, errors: "" });
    const { output } = firstBackup;
    expect(output).toContain(`The installation is backed up in ${file} (`);
    expect(output).toContain("2 companies, 2 sites, 2 environments");
    expect(output).toContain(`in the folder ${world.facts.dataFolder}/archives.`);
    expect(output).toMatch(new RegExp(`${kept.name} / Live +less than a minute ago`));
    expect(output).toMatch(new RegExp(`${bare.name} / Live +NO BACKUP: can't be restored`));
    expect(output).toContain(`operator -- backup '${file}' --force --with-backups`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("fails with a message and an exit code, and writes nothing", async () => {
    const { dataFolder: SITEWRIGHT_DATA, databaseUrl: DATABASE_URL } = world.facts;
    const existing = { SITEWRIGHT_DATA, DATABASE_URL };
    const missing = join(folder, "missing");
    const refusals: [Promise<Outcome>, string][] = [
      [operator(["backup", "installation.backup"], existing), "already exists. Choose another file, or add --force"],
      [operator(["backup", "no/folder/file"], existing), "There is no folder"],
      [operator(["backup", "b"], { ...existing, SITEWRIGHT_BACKUP_PASSPHRASE: "short" }), "at least 12 characters"],
      [operator(["backup", "b"], { ...existing, SITEWRIGHT_BACKUP_PASSPHRASE: "" }), "There is no terminal to ask"],
      [operator(["backup", "b"], { SITEWRIGHT_DATA: missing }), `There is no installation in ${missing}.`],
      [
        operator(["backup", "b", "--with-backups"], existing),
        "--with-backups needs the installation to run. Start it with: npm start.",
      ],
      [
        operator(["backup", "b"], { ...existing, DATABASE_URL: "postgresql://x@127.0.0.1:1/x" }),
        "The database at DATABASE_URL does not answer: ",
      ],
    ];
    for (const [outcome, message] of refusals) {
      const { code, output, errors } = await outcome;
      expect({ code, output }).toEqual({ code: 1, output: "" });
      expect(errors).toContain(message);
      expect(errors).not.toMatch(/^ +at /m);
    }
    expect(existsSync(join(folder, "b"))).toBe(false);
    expect(existsSync(missing)).toBe(false);
  });
});

describe("restore", () => {
  test("restores the installation, which can be backed up without being started, and restored again", async () => {
    const settings = newData();
    const data = settings.SITEWRIGHT_DATA;
    const restored = await operator(["restore", cheapFile], settings);
    expect(restored).toMatchObject({ code: 0, errors: "" });
    expect(restored.output).toContain(`The installation is restored in ${data}`);
    expect(restored.output).toContain("Stop the old installation permanently.");
    expect(restored.output).toContain(`Copy its archives, ${world.facts.dataFolder}/archives, to ${data}/archives`);
    expect(restored.output).toContain(`3. SITEWRIGHT_DATA='${data}' npm start\n`);
    expect(existsSync(join(data, "restore.json"))).toBe(false);
    expect(existsSync(settings.SITEWRIGHT_RUN ?? "")).toBe(false);
    for (const path of ["secrets/key", "secrets/archive-key", "first-run.json"]) {
      expect(readFileSync(join(data, path))).toEqual(readFileSync(join(world.facts.dataFolder, path)));
    }
    expect(readFileSync(join(data, "settings.env"), "utf8")).toContain("SITEWRIGHT_BACKUP_DAYS='30'\n");
    expect(readFileSync(join(data, "settings.env"), "utf8")).not.toContain("hush");
    expect(readEnvironment(settings).SITEWRIGHT_SMTP_URL).toBe("smtp://mailer:hush@mail.example");
    expect(await ownRows(settings)).toMatchObject(await movedRows());

    const again = await operator(["backup", "again", "--force"], settings);
    expect(again).toMatchObject({ code: 0, errors: "" });
    await using own = await createTestDatabase({ template: "template0" });
    const elsewhere = { ...newData(), DATABASE_URL: own.url };
    const third = await operator(["restore", "again"], elsewhere);
    expect(third).toMatchObject({ code: 0, errors: "" });
    expect(third.output).toContain("npm start, with the same DATABASE_URL");
    expect(existsSync(join(elsewhere.SITEWRIGHT_DATA, "postgres"))).toBe(false);
    const { activity = [], ...others } = await movedRows();
    const rows = await rowsOf(own.pool);
    expect(rows).toMatchObject(others);
    expect(rows.activity).toEqual([...activity, expect.stringContaining("backUpInstallation")]);
  });

  test("says which environments the archives can restore", async () => {
    await using own = await createTestDatabase({ template: "template0" });
    const archives = `file://${join(world.facts.dataFolder, "archives")}`;
    const settings = { ...newData(), DATABASE_URL: own.url, SITEWRIGHT_ARCHIVE_URL: archives };
    const { output } = await operator(["restore", cheapFile], settings);
    expect(output).toMatch(
      new RegExp(`${kept.name} / Live +less than a minute ago|${kept.name} / Live +\\d+ minutes? ago`),
    );
    expect(output).toMatch(new RegExp(`${bare.name} / Live +NO BACKUP: can't be restored`));
  });

  test("changes nothing if there is an installation, the passphrase is wrong, or the database is not empty", async () => {
    const existing = newData();
    mkdirSync(join(existing.SITEWRIGHT_DATA, "secrets"), { recursive: true });
    writeFileSync(join(existing.SITEWRIGHT_DATA, "secrets", "key"), "mine");
    await using full = await createTestDatabase();
    const [wrong, notEmpty] = [newData(), { ...newData(), DATABASE_URL: full.url }];
    const refusals: [Settings & { readonly SITEWRIGHT_DATA: string }, string][] = [
      [existing, `There is already an installation in ${existing.SITEWRIGHT_DATA}`],
      [{ ...wrong, SITEWRIGHT_BACKUP_PASSPHRASE: "wrong horse battery" }, "The passphrase is wrong"],
      [notEmpty, "The database is not empty"],
      [
        { ...newData(), DATABASE_URL: "postgresql://x@127.0.0.1:1/x" },
        "The database at DATABASE_URL does not answer: ",
      ],
    ];
    for (const [settings, message] of refusals) {
      const { code, output, errors } = await operator(["restore", cheapFile], settings);
      expect({ code, output }).toEqual({ code: 1, output: "" });
      expect(errors).toContain(message);
      expect(errors).not.toMatch(/^ +at /m);
      const remaining = readdirSync(settings.SITEWRIGHT_DATA);
      expect(remaining.filter((name) => !["supervisor.lock", "logs", "secrets"].includes(name))).toEqual([]);
    }
    expect(readFileSync(join(existing.SITEWRIGHT_DATA, "secrets", "key"), "utf8")).toBe("mine");
    expect(existsSync(join(notEmpty.SITEWRIGHT_DATA, "secrets"))).toBe(false);
  });

  test("shows the usage if the arguments are wrong", async () => {
    for (const given of [
      ["restore"],
      ["restore", "a", "b"],
      ["restore", "a", "--force"],
      ["backup"],
      ["backup", "a", "--json"],
    ]) {
      const { code, errors } = await operator(given, newData());
      expect(code).toBe(2);
      expect(errors).toContain(`Usage: npm run --silent operator -- ${given[0]} <file>`);
    }
  });

  test("killed at any time is completed by the next restore, and nothing else can be done before", async () => {
    const settings = newData();
    const data = settings.SITEWRIGHT_DATA;
    const isInterrupted = () => existsSync(join(data, "restore.json"));
    // Right after it has started, while it creates its database, and when it is nearly done.
    for (const path of ["restore.json", "postgres", "secrets/archive-key"]) {
      const { child, outcome } = start(["restore", cheapFile], settings);
      onTestFinished(() => void child.kill("SIGKILL"));
      while (!existsSync(join(data, path)) && child.exitCode === null) await delay(1);
      child.kill("SIGKILL");
      await outcome;
      // It may have finished before it was killed.
      if (!isInterrupted()) break;
      const between = await operator(["backup", "between"], settings);
      expect(between.errors).toContain(`A restore into ${data} was interrupted. Repeat it`);
    }
    if (isInterrupted()) {
      const next = await operator(["restore", cheapFile], settings);
      expect(next).toMatchObject({ code: 0, errors: "" });
    }
    expect(isInterrupted()).toBe(false);
    const rows = await ownRows(settings);
    expect(rows).toMatchObject(await movedRows());
    expect(rows.restores).toHaveLength(1);
    rmSync(data, { recursive: true });
  });
});

// Last, because it records more backups.
describe("a backup while keys or the log change", () => {
  /** Resolves when another process waits for a lock that this one holds. */
  const someoneWaits = () =>
    expect
      .poll(async () => {
        const waiting = "select from pg_locks where locktype = 'advisory' and not granted";
        return (await world.own.pool.query(waiting)).rowCount;
      })
      .toBe(1);

  test.each<[string, string, number, () => Promise<unknown>]>([
    [
      "the keys",
      "secrets/archive-key",
      rotationLock,
      () => addKey(join(world.facts.dataFolder, "secrets/archive-key")),
    ],
    [
      "the hashes of the log",
      "activity-heads.json",
      sealingLock,
      () => writeHeads(world.facts.dataFolder, new Map([["chain", { start: origin, head: origin }]])),
    ],
  ])("has %s of its snapshot", async (_, path, lock, change) => {
    const { dataFolder: SITEWRIGHT_DATA, databaseUrl: DATABASE_URL } = world.facts;
    const changed = join(SITEWRIGHT_DATA, path);
    const before = existsSync(changed) ? readFileSync(changed) : null;
    onTestFinished(() => (before === null ? rmSync(changed) : writeFileSync(changed, before)));
    const client = await world.own.pool.connect();
    await client.query("select pg_advisory_lock($1)", [lock]);
    const outcome = operator(["backup", "late", "--force"], { SITEWRIGHT_DATA, DATABASE_URL });
    try {
      await someoneWaits();
      await change();
    } finally {
      // Ends the lock.
      client.release(true);
    }
    expect(await outcome).toMatchObject({ code: 0, errors: "" });
    const { files } = await readHeader(await openSealed(join(folder, "late"), passphrase));
    expect(files[path]).toBe(readFileSync(changed, "base64"));
  });
});
