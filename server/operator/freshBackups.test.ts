/** Backups of all environments, by the API of a running control process. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCompany } from "../app/company/companies.ts";
import { type Control, startControl } from "../control.ts";
import { type Config, loadConfig } from "../settings/config.ts";
import { openPool } from "../store/open.ts";
import { silentLog } from "../testing/engine.ts";
import { liveSite } from "../testing/sites.ts";
import { makeWorld, type World } from "../testing/world.ts";
import { backup } from "./backup.ts";
import { backUpAll } from "./freshBackups.ts";

let world: World;
let config: Config;
let control: Control;
const sites: Awaited<ReturnType<typeof liveSite>>[] = [];

beforeAll(async () => {
  world = await makeWorld();
  const { dataFolder, databaseUrl, edgePort, edgeSocket } = world.facts;
  config = loadConfig({
    SITEWRIGHT_DATA: dataFolder,
    SITEWRIGHT_RUN: join(edgeSocket, ".."),
    SITEWRIGHT_CONTROL_PORT: "0",
    SITEWRIGHT_WPORG_URL: "none",
    SITEWRIGHT_EDGE_PORT: String(edgePort),
    DATABASE_URL: databaseUrl,
  });
  for (let count = 0; count < 2; count += 1) sites.push(await siteOfCompany(`Company ${count}`));
  control = await startControl({
    config,
    runtimes: { playground: createFakeRuntime({ folder: join(dataFolder, "fake") }) },
    log: silentLog,
  });
  await writeRun(`${control.url}/v2`);
});
afterAll(async () => {
  await control?.stop();
  await world[Symbol.asyncDispose]();
});

async function writeRun(api_url: string): Promise<void> {
  const { dataFolder, databaseUrl: database_url } = world.facts;
  await writeFile(join(dataFolder, "run.json"), JSON.stringify({ pid: 1, database_url, api_url }));
}

/** A site whose company has an owner. */
async function siteOfCompany(name: string) {
  const { database } = world.own;
  const site = await liveSite(world);
  const { company_id } = await createCompany(database, { name });
  for (const table of ["environments", "domains"] as const) {
    await database.updateTable(table).set({ company_id }).where("site_id", "=", site.siteId).execute();
  }
  await database.updateTable("sites").set({ company_id }).where("id", "=", site.siteId).execute();
  return { ...site, companyId: company_id };
}

async function run(): Promise<{ problems: string[]; printed: string[] }> {
  const pool = openPool(world.facts.databaseUrl, { connections: 1 });
  const printed: string[] = [];
  try {
    return { problems: await backUpAll(pool, world.facts.dataFolder, (line) => printed.push(line)), printed };
  } finally {
    await pool.end();
  }
}

describe("fresh backups", () => {
  test("are made of every environment of every company, and leave no key behind", async () => {
    const { database } = world.own;
    const keys = await database.selectFrom("api_keys").select("id").execute();
    const { problems, printed } = await run();
    expect(problems).toEqual([]);
    expect(printed.sort()).toEqual(sites.map(({ name }) => `Backing up ${name} / Live …`).sort());
    const backups = await database.selectFrom("backups").select(["environment_id", "note", "manifest"]).execute();
    expect(backups.map(({ environment_id }) => environment_id).sort()).toEqual(
      sites.map(({ environment }) => environment.id).sort(),
    );
    expect(backups.every(({ note, manifest }) => note === "With a backup of the installation" && manifest)).toBe(true);
    expect(await database.selectFrom("api_keys").select("id").execute()).toEqual(keys);
    const entry = await database
      .selectFrom("activity")
      .select(["api_key_name", "has_failed"])
      .executeTakeFirstOrThrow();
    expect(entry).toEqual({ api_key_name: "Backup of the installation", has_failed: false });
  });

  test("that fail are reported with the reason, and the others are made", async () => {
    const [site] = sites;
    if (site === undefined) throw new Error("There is no site");
    await world.services.runtime.retire(site.environment);
    const { problems } = await run();
    await world.services.runtime.reinstate(site.environment);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${site.name} / Live: `));
  });

  test("are not recommended by the report of a backup that has them", async () => {
    const file = join(world.facts.dataFolder, "installation.backup");
    const report = await backup(
      { file, isForced: false, isFresh: true },
      {
        config,
        env: { SITEWRIGHT_BACKUP_PASSPHRASE: "correct horse battery" },
        terminal: { input: new PassThrough(), output: new PassThrough() },
      },
    );
    expect(report).toContain("Newest backup of each environment");
    expect(report).not.toContain("--with-backups");
  });

  test("need a running installation", async () => {
    await writeRun("http://127.0.0.1:1/v2");
    await expect(run()).rejects.toThrow("--with-backups needs the installation to run.");
    await rm(join(world.facts.dataFolder, "run.json"));
    await expect(run()).rejects.toThrow("--with-backups needs the installation to run.");
  });
});
