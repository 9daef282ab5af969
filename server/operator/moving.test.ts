/** The commands that move an installation, as whoever runs it types them, with a PostgreSQL of their own. */
import { type ChildProcess, execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { withStartedDatabase } from "@sitewright/supervisor/postgres/ownDatabase.ts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../settings/config.ts";
import { openPool } from "../store/open.ts";
import { createTestDatabase } from "../testing/database.ts";
import { fillInstallation, type LiveSite, rowsOf } from "../testing/installation.ts";
import { makeWorld, type World } from "../testing/world.ts";

const program = join(import.meta.dirname, "../operator.ts");
const passphrase = "correct horse battery";

let world: World;
let folder: string;
let file: string;
let told: Outcome;
let kept: LiveSite;
let bare: LiveSite;

interface Outcome {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

type Settings = Readonly<Record<string, string>>;

function begin(given: readonly string[], settings: Settings): { child: ChildProcess; outcome: Promise<Outcome> } {
  const env = { PATH: process.env.PATH, INIT_CWD: folder, SITEWRIGHT_BACKUP_PASSPHRASE: passphrase, ...settings };
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>();
  const child = execFile(process.execPath, [program, ...given], { env }, (error, output, errors) => {
    resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, output, errors });
  });
  return { child, outcome };
}

function operator(given: readonly string[], settings: Settings): Promise<Outcome> {
  return begin(given, settings).outcome;
}

/** A data folder that is not there yet, with a place for its sockets. */
function newData(): Settings & { readonly SITEWRIGHT_DATA: string } {
  const name = `data-${Math.random().toString(36).slice(2)}`;
  return { SITEWRIGHT_DATA: join(folder, name), SITEWRIGHT_RUN: join(folder, `${name}-run`) };
}

beforeAll(async () => {
  world = await makeWorld();
  folder = await mkdtemp(join(tmpdir(), "sw-moving-"));
  ({ kept, bare } = await fillInstallation(world));
  const { dataFolder, databaseUrl } = world.facts;
  const lastStart = { SITEWRIGHT_EDGE_PORT: "9001", SITEWRIGHT_SITE_SUFFIX: "localhost", SITEWRIGHT_BACKUP_DAYS: "30" };
  writeFileSync(join(dataFolder, "last-start.json"), JSON.stringify(lastStart));
  file = join(folder, "installation.backup");
  told = await operator(["backup", "installation.backup"], { SITEWRIGHT_DATA: dataFolder, DATABASE_URL: databaseUrl });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Every row of a data folder's own database. */
function ownRows(settings: Settings) {
  return withStartedDatabase(loadConfig(settings), async (url) => {
    const pool = openPool(url, { connections: 1 });
    const rows = await rowsOf(pool);
    await pool.end();
    return rows;
  });
}

/** All but what says that it was restored. */
async function movedRows() {
  const { environments: _, restores: __, ...rest } = await rowsOf(world.own.pool);
  return rest;
}

describe("backup", () => {
  test("tells what the file holds, where the rest is, and what would not come back", () => {
    expect(told).toMatchObject({ code: 0, errors: "" });
    expect(told.output).toContain(`The installation is backed up in ${file} (`);
    expect(told.output).toContain("2 companies, 2 sites, 2 environments");
    expect(told.output).toContain(`in the folder ${world.facts.dataFolder}/archives.`);
    expect(told.output).toMatch(new RegExp(`${kept.name} / Live +less than a minute ago`));
    expect(told.output).toMatch(new RegExp(`${bare.name} / Live +NO BACKUP: it would not come back`));
    expect(told.output).toContain(`operator -- backup '${file}' --force --with-backups`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("is refused with a sentence and an exit code, and writes nothing", async () => {
    const { dataFolder: SITEWRIGHT_DATA, databaseUrl: DATABASE_URL } = world.facts;
    const there = { SITEWRIGHT_DATA, DATABASE_URL };
    const nothing = join(folder, "nothing");
    const refusals: [Promise<Outcome>, string][] = [
      [operator(["backup", "installation.backup"], there), "is there already. Name another file, or add --force"],
      [operator(["backup", "no/folder/file"], there), "There is no folder"],
      [operator(["backup", "b"], { ...there, SITEWRIGHT_BACKUP_PASSPHRASE: "short" }), "at least 12 characters"],
      [operator(["backup", "b"], { ...there, SITEWRIGHT_BACKUP_PASSPHRASE: "" }), "There is no terminal to ask"],
      [operator(["backup", "b"], { SITEWRIGHT_DATA: nothing }), `There is no installation in ${nothing}.`],
      [
        operator(["backup", "b", "--with-backups"], there),
        "--with-backups needs the installation to run. Start it with: npm start.",
      ],
      [
        operator(["backup", "b"], { ...there, DATABASE_URL: "postgresql://x@127.0.0.1:1/x" }),
        "The database at DATABASE_URL does not answer: ",
      ],
    ];
    for (const [outcome, sentence] of refusals) {
      const { code, output, errors } = await outcome;
      expect({ code, output }).toEqual({ code: 1, output: "" });
      expect(errors).toContain(sentence);
      expect(errors).not.toMatch(/^ +at /m);
    }
    expect(existsSync(join(folder, "b"))).toBe(false);
    expect(existsSync(nothing)).toBe(false);
  });
});

describe("restore", () => {
  test("makes the installation anew, which can be backed up without being started, and restored again", async () => {
    const settings = newData();
    const data = settings.SITEWRIGHT_DATA;
    const restored = await operator(["restore", file], settings);
    expect(restored).toMatchObject({ code: 0, errors: "" });
    expect(restored.output).toContain(`The installation is restored in ${data}`);
    expect(restored.output).toContain("Stop the installation that was backed up, for good.");
    expect(restored.output).toContain(`Copy its archives, ${world.facts.dataFolder}/archives, to ${data}/archives`);
    expect(restored.output).toContain(`3. SITEWRIGHT_DATA='${data}' npm start\n`);
    expect(existsSync(join(data, "restore.json"))).toBe(false);
    expect(existsSync(settings.SITEWRIGHT_RUN ?? "")).toBe(false);
    for (const path of ["secrets/key", "secrets/archive-key", "first-run.json"]) {
      expect(readFileSync(join(data, path))).toEqual(readFileSync(join(world.facts.dataFolder, path)));
    }
    expect(readFileSync(join(data, "settings.env"), "utf8")).toContain("SITEWRIGHT_BACKUP_DAYS='30'\n");
    expect(await ownRows(settings)).toMatchObject(await movedRows());

    const again = await operator(["backup", "again", "--force"], settings);
    expect(again).toMatchObject({ code: 0, errors: "" });
    await using own = await createTestDatabase({ template: "template0" });
    const elsewhere = { ...newData(), DATABASE_URL: own.url };
    const third = await operator(["restore", "again"], elsewhere);
    expect(third).toMatchObject({ code: 0, errors: "" });
    expect(third.output).toContain("npm start, with the same DATABASE_URL");
    expect(existsSync(join(elsewhere.SITEWRIGHT_DATA, "postgres"))).toBe(false);
    expect(await rowsOf(own.pool)).toMatchObject(await movedRows());
  });

  test("says which environments the archives can restore", async () => {
    await using own = await createTestDatabase({ template: "template0" });
    const archives = `file://${join(world.facts.dataFolder, "archives")}`;
    const settings = { ...newData(), DATABASE_URL: own.url, SITEWRIGHT_ARCHIVE_URL: archives };
    const { output } = await operator(["restore", file], settings);
    expect(output).toMatch(
      new RegExp(`${kept.name} / Live +less than a minute ago|${kept.name} / Live +\\d+ minutes? ago`),
    );
    expect(output).toMatch(new RegExp(`${bare.name} / Live +NO BACKUP: it can't come back`));
  });

  test("changes nothing where there is an installation, the passphrase is wrong, or the database is not empty", async () => {
    const there = newData();
    mkdirSync(join(there.SITEWRIGHT_DATA, "secrets"), { recursive: true });
    writeFileSync(join(there.SITEWRIGHT_DATA, "secrets", "key"), "mine");
    await using full = await createTestDatabase();
    const [wrong, notEmpty] = [newData(), { ...newData(), DATABASE_URL: full.url }];
    const refusals: [Settings & { readonly SITEWRIGHT_DATA: string }, string][] = [
      [there, `There is an installation in ${there.SITEWRIGHT_DATA} already`],
      [{ ...wrong, SITEWRIGHT_BACKUP_PASSPHRASE: "wrong horse battery" }, "The passphrase does not open"],
      [notEmpty, "The database is not empty"],
      [
        { ...newData(), DATABASE_URL: "postgresql://x@127.0.0.1:1/x" },
        "The database at DATABASE_URL does not answer: ",
      ],
    ];
    for (const [settings, sentence] of refusals) {
      const { code, output, errors } = await operator(["restore", file], settings);
      expect({ code, output }).toEqual({ code: 1, output: "" });
      expect(errors).toContain(sentence);
      expect(errors).not.toMatch(/^ +at /m);
      const left = readdirSync(settings.SITEWRIGHT_DATA);
      expect(left.filter((name) => !["supervisor.lock", "logs", "secrets"].includes(name))).toEqual([]);
    }
    expect(readFileSync(join(there.SITEWRIGHT_DATA, "secrets", "key"), "utf8")).toBe("mine");
    expect(existsSync(join(notEmpty.SITEWRIGHT_DATA, "secrets"))).toBe(false);
  });

  test("that is not understood shows how it is written", async () => {
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

  test.each([
    ["as soon as it has begun", "restore.json"],
    ["while it makes its database", "postgres"],
    ["when it is nearly done", "secrets/archive-key"],
  ])("killed %s is done by the next one, and nothing else can be done before", async (_, path) => {
    const settings = newData();
    const data = settings.SITEWRIGHT_DATA;
    const { child, outcome } = begin(["restore", file], settings);
    onTestFinished(() => void child.kill("SIGKILL"));
    while (!existsSync(join(data, path)) && child.exitCode === null) await delay(1);
    child.kill("SIGKILL");
    await outcome;
    // It may have been faster than we.
    if (existsSync(join(data, "restore.json"))) {
      const between = await operator(["backup", "between"], settings);
      expect(between.errors).toContain(`A restore into ${data} was interrupted. Repeat it`);
      const next = await operator(["restore", file], settings);
      expect(next).toMatchObject({ code: 0, errors: "" });
    }
    expect(existsSync(join(data, "restore.json"))).toBe(false);
    const rows = await ownRows(settings);
    expect(rows).toMatchObject(await movedRows());
    expect(rows.restores).toHaveLength(1);
    rmSync(data, { recursive: true });
  });
});
