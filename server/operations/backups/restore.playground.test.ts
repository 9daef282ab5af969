/** Restores of real WordPress under load: the old state is back, and visitors see no errors. */
import { randomUUID } from "node:crypto";
import { readdir, readFile, realpath, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findNewestBackup } from "../../store/backups/backups.ts";
import { systemActor } from "../../store/company/activity.ts";
import { visit } from "../../testing/edge.ts";
import { notesOf, pushing } from "../../testing/environments.ts";
import { makePlaygroundWorld, playground } from "../../testing/playground.ts";
import { servicesOf } from "../../testing/services.ts";
import { withEngine } from "../../testing/withEngine.ts";
import type { World } from "../../testing/world.ts";
import type { OperationRequest } from "../engine/accept.ts";
import { backUp } from "../steps/backup.ts";
import type { RestoreBackupInput } from "./restoreBackup.ts";

let world: World;
let site: Site;
let other: Place;
beforeAll(async () => {
  world = await makePlaygroundWorld();
  const made = notesOf(await pushing("all", "all").prepare(world));
  const { id, number, address } = made.environment;
  site = made.site;
  other = { environment: { id, number }, address };
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const { signal } = new AbortController();

type Site = ReturnType<typeof notesOf>["site"];
type Place = Pick<Site, "environment" | "address">;

async function rootOf({ environment }: Place): Promise<string> {
  const layout = await world.services.runtime.layout(environment);
  if (layout === null) throw new Error("The environment is gone");
  return layout.documentRoot;
}

function currentOf({ environment }: Place): string {
  return join(world.facts.dataFolder, "environments", environment.id, "current");
}

function databaseOf(place: Place): DatabaseSync {
  return new DatabaseSync(join(currentOf(place), "database", "wordpress.sqlite"));
}

/** Sets the title, and a text that contains the environment's address. */
async function write(place: Place, title: string): Promise<void> {
  using database = disposable(databaseOf(place));
  const set = database.value.prepare("UPDATE wp_options SET option_value = ? WHERE option_name = ?");
  set.run(title, "blogname");
  set.run(`see ${place.address}/about`, "blogdescription");
  await writeFile(join(await rootOf(place), "note.txt"), title);
}

function disposable(value: DatabaseSync) {
  return { value, [Symbol.dispose]: () => value.close() };
}

/** Requests a page that is not cached. */
const visitAgain = ({ address }: Place) => visit(world.facts.edgePort, address, `/?${randomUUID()}`);

async function stateOf(place: Place) {
  using database = disposable(databaseOf(place));
  const get = database.value.prepare("SELECT option_value AS value FROM wp_options WHERE option_name = ?");
  const { body, status } = await visitAgain(place);
  return {
    status,
    title: /<title>(.*?)(?: &#8211;|<\/title>)/.exec(body)?.[1],
    text: get.get("blogdescription")?.value,
    note: await readFile(join(await rootOf(place), "note.txt"), "utf8"),
  };
}

async function backUpNow({ environment, address }: Place) {
  const options = {
    environment,
    address,
    operationId: randomUUID(),
    type: "manual",
    name: "Then",
    note: null,
  } as const;
  await backUp(world.services, options, signal);
  const backup = await findNewestBackup(world.services.database, environment.id);
  if (backup === null) throw new Error("There is no backup");
  return backup;
}

type RestoreOptions = Partial<Pick<RestoreBackupInput, "only" | "withoutBackup">>;

async function restore(place: Place, backupId: number, options: RestoreOptions = {}, ownWorld = world) {
  const { environment: target, address } = place;
  const { companyId, siteId } = site;
  const restored = { backupId, backupName: "Then", only: null, withoutBackup: false, ...options };
  const input = { token: randomUUID(), target, address, ...restored };
  const ids = { companyId, siteId, environmentId: target.id, locks: [target.id] };
  const request: OperationRequest = {
    kind: "restoreBackup",
    ...ids,
    input,
    whenBusy: "fail",
    actor: systemActor,
    activityParameters: {},
  };
  return withEngine(ownWorld, (harness) => harness.submit(request));
}

test("an environment is restored without errors for visitors, and the state before is a backup, also in parts", async () => {
  await write(site, "Then");
  const backup = await backUpNow(site);
  await write(site, "Now");
  let isOver = false;
  const seen = new Set<string>();
  const reading = (async () => {
    while (!isOver) {
      const { status, body } = await visit(world.facts.edgePort, site.address);
      seen.add(`${status} ${/<title>(Then|Now)/.exec(body)?.[1]}`);
    }
  })();
  const row = await restore(site, backup.id);
  isOver = true;
  await reading;
  expect(row).toMatchObject({ state: "succeeded", public_error: null });
  expect(await stateOf(site)).toEqual({ status: 200, title: "Then", text: `see ${site.address}/about`, note: "Then" });
  expect([...seen].filter((each) => !["200 Then", "200 Now"].includes(each))).toEqual([]);
  const before = await findNewestBackup(world.services.database, site.environment.id);
  expect(before?.id).toBeGreaterThan(backup.id);
  // The files alone, and then the database alone.
  expect((await restore(site, before?.id ?? 0, { only: "files" })).state).toBe("succeeded");
  expect(await stateOf(site)).toMatchObject({ status: 200, title: "Then", note: "Now" });
  expect((await restore(site, before?.id ?? 0, { only: "database" })).state).toBe("succeeded");
  expect(await stateOf(site)).toMatchObject({ status: 200, title: "Now", note: "Now" });
});

test("a backup that is restored to another environment gets that environment's address", async () => {
  await write(site, "Then");
  await write(other, "Other");
  expect((await restore(other, (await backUpNow(site)).id)).state).toBe("succeeded");
  expect(await stateOf(other)).toEqual({
    status: 200,
    title: "Then",
    text: `see ${other.address}/about`,
    note: "Then",
  });
  expect(await stateOf(site)).toMatchObject({ title: "Then", text: `see ${site.address}/about` });
});

interface Damage {
  readonly damage: (place: Place) => Promise<void>;
  /** Error of a restore that makes a backup first. */
  readonly error: RegExp;
  /** Error of a restore of only the files, without a backup. */
  readonly filesError: RegExp;
}

const damages: readonly (readonly [string, Damage])[] = [
  [
    "the database was truncated",
    {
      damage: (place) => truncate(join(currentOf(place), "database", "wordpress.sqlite"), 5_000),
      error: /^A database is damaged, so it can't be copied\. To restore it anyway /,
      filesError: /^The restored site failed its check: /,
    },
  ],
  [
    "the release is gone",
    {
      damage: async (place) => rm(await realpath(currentOf(place)), { recursive: true }),
      error: /^Something went wrong on the server\. .+ To restore it anyway /,
      filesError: /^The environment is damaged, so none of its parts can be kept\. /,
    },
  ],
];

test.each(damages)("if %s, a restore says how to skip the backup, which works", async (_, its) => {
  await write(site, "Then");
  const backup = await backUpNow(site);
  await its.damage(site);
  // New services, as after a restart: nothing of the lost state is in memory.
  const services = servicesOf(world.facts, world.services.database, playground(world.facts.dataFolder).runtime);
  await services.publisher.publish();
  expect((await visitAgain(site)).status).not.toBe(200);
  const again = (options: RestoreOptions) => restore(site, backup.id, options, { ...world, services });
  expect((await again({})).public_error).toMatch(its.error);
  expect((await again({ only: "files", withoutBackup: true })).public_error).toMatch(its.filesError);
  expect(await again({ withoutBackup: true })).toMatchObject({ state: "succeeded", public_error: null });
  expect(await stateOf(site)).toEqual({ status: 200, title: "Then", text: `see ${site.address}/about`, note: "Then" });
});

// The last test, because it damages all backups.
test("if a piece is damaged, the restore fails, names the affected file, and does not change the site", async () => {
  await write(site, "Then");
  const backup = await backUpNow(site);
  await write(site, "Now");
  const packs = join(world.facts.dataFolder, "archives", "packs", site.companyId);
  for (const name of await readdir(packs)) {
    const content = await readFile(join(packs, name));
    content.writeUInt8(content.readUInt8(content.length >> 1) ^ 1, content.length >> 1);
    await writeFile(join(packs, name), content);
  }
  const row = await restore(site, backup.id);
  expect(row.state).toBe("failed");
  expect(row.public_error).toMatch(/^This backup can't be restored: what it needs for .+ is missing or damaged\.$/);
  expect(await stateOf(site)).toMatchObject({ status: 200, title: "Now", note: "Now" });
});
