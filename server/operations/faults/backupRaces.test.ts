/** Concurrent operations on the same backups, and backups of environments with and without WordPress. */
import { randomUUID } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeBackupLists } from "../../store/backups/backupList.ts";
import { findNewestBackup } from "../../store/backups/backups.ts";
import type { FinishedBackup } from "../../store/backups/finishedBackup.ts";
import { systemActor } from "../../store/company/activity.ts";
import { openPool } from "../../store/open.ts";
import { visit } from "../../testing/edge.ts";
import { notesOf, pushing } from "../../testing/environments.ts";
import { liveSite } from "../../testing/sites.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import type { RestoreBackupInput } from "../backups/restoreBackup.ts";
import type { OperationRequest } from "../engine/accept.ts";
import { backUp } from "../steps/backup.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const { signal } = new AbortController();

type Site = Awaited<ReturnType<typeof liveSite>>;
type AddressedEnvironment = Pick<Site, "environment" | "address">;

async function fileOf({ environment }: AddressedEnvironment): Promise<string> {
  const layout = await world.services.runtime.layout(environment);
  if (layout === null) throw new Error("The environment is gone");
  return join(layout.documentRoot, "own.txt");
}

const write = async (site: AddressedEnvironment, text: string) => writeFile(await fileOf(site), text);
const read = async (site: AddressedEnvironment) => readFile(await fileOf(site), "utf8");

async function backUpNow({ environment, address }: AddressedEnvironment): Promise<FinishedBackup> {
  const request = { environment, address, operationId: randomUUID(), type: "manual", name: "n", note: null } as const;
  await backUp(world.services, request, signal);
  const backup = await findNewestBackup(world.own.database, environment.id);
  if (backup === null) throw new Error("There is no backup");
  return backup;
}

/** Returns a request as the API makes it for a caller that waits while the environment is busy. */
function requestOn(
  site: Site,
  kind: OperationRequest["kind"],
  locks: readonly string[],
  input: OperationRequest["input"],
): OperationRequest {
  const { companyId, siteId } = site;
  const ids = { companyId, siteId, environmentId: locks[0] ?? null, locks: [...new Set(locks)] };
  return { kind, ...ids, input, whenBusy: "queue", actor: systemActor, activityParameters: {} };
}

function restoring(
  site: Site,
  { environment: target, address }: AddressedEnvironment,
  backup: FinishedBackup,
  only: RestoreBackupInput["only"] = null,
): OperationRequest {
  const input = { token: randomUUID(), backupId: backup.id, backupName: "n", target, address, only };
  return requestOn(site, "restoreBackup", [target.id, backup.environmentId], input);
}

function removing(site: Site, backup: FinishedBackup): OperationRequest {
  return requestOn(site, "removeBackup", [backup.environmentId], { backupId: backup.id });
}

/** Creates a site with two environments. */
async function twoEnvironments() {
  const { site, environment } = notesOf(await pushing("all", "all").prepare(world));
  const { id, number, address } = environment;
  return { site, other: { environment: { id, number }, address } };
}

const gone = { state: "failed", public_error: "The backup no longer exists." };

test("a backup can be restored to two environments at once, and twice to one of them", async () => {
  const { site, other } = await twoEnvironments();
  await write(site, "then");
  const backup = await backUpNow(site);
  for (const each of [site, other]) await write(each, "now");
  await withEngine(world, async (harness) => {
    const requests = [site, site, other].map((target) => restoring(site, target, backup));
    const rows = await Promise.all(requests.map((request) => harness.submit(request)));
    expect(rows).toMatchObject(requests.map(() => ({ state: "succeeded", public_error: null })));
  });
  expect([await read(site), await read(other)]).toEqual(["then", "then"]);
});

test("restores and removals of a backup run in the order of their requests, and a restore after the removal fails", async () => {
  const { site, other } = await twoEnvironments();
  await write(site, "then");
  await write(other, "now");
  const backup = await backUpNow(site);
  const requests = [
    restoring(site, other, backup),
    removing(site, backup),
    restoring(site, other, backup),
    removing(site, backup),
  ];
  await withEngine(world, async (harness) => {
    const ends: ReturnType<typeof harness.submit>[] = [];
    for (const request of requests) {
      const accepted = Promise.withResolvers<void>();
      ends.push(harness.submit(request, () => accepted.resolve()));
      await accepted.promise;
    }
    const succeeded = { state: "succeeded", public_error: null };
    expect(await Promise.all(ends)).toMatchObject([succeeded, succeeded, gone, gone]);
  });
  expect(await read(other)).toBe("then");
  expect((await visit(world.facts.edgePort, other.address)).status).toBe(200);
});

test("a backup made while another one is removed is complete", async () => {
  const site = await liveSite(world);
  await write(site, "then");
  const first = await backUpNow(site);
  const making = { environment: site.environment, address: site.address, note: null };
  await withEngine(world, async (harness) => {
    const requests = [removing(site, first), requestOn(site, "addManualBackup", [site.environment.id], making)];
    const rows = await Promise.all(requests.map((request) => harness.submit(request)));
    expect(rows).toMatchObject(requests.map(() => ({ state: "succeeded" })));
    const backup = await findNewestBackup(world.own.database, site.environment.id);
    expect(backup?.id).toBeGreaterThan(first.id);
    await write(site, "now");
    if (backup !== null) await harness.submit(restoring(site, site, backup));
  });
  expect(await read(site)).toBe("then");
});

describe("a backup of an environment without WordPress", () => {
  /** Adds an environment without WordPress to the site. */
  async function plain(site: Site): Promise<AddressedEnvironment> {
    const { other } = await twoEnvironments();
    await world.services.runtime.destroy(other.environment);
    await world.services.runtime.provision({ environment: other.environment, phpVersion: "8.3", wordpress: null });
    await world.own.database
      .updateTable("environments")
      .set({ site_id: site.siteId, company_id: site.companyId, name: randomUUID().slice(0, 8) })
      .where("id", "=", other.environment.id)
      .execute();
    await world.services.publisher.publish();
    return other;
  }

  test.each(["files", "database"] as const)(
    "can't be restored to one with WordPress, nor the reverse: %s only",
    async (only) => {
      const site = await liveSite(world);
      const bare = await plain(site);
      await write(site, "of WordPress");
      await write(bare, "of none");
      const backups = [await backUpNow(bare), await backUpNow(site)];
      const before = [await countBackups(site), await countBackups(bare)];
      await withEngine(world, async (harness) => {
        for (const [target, backup] of [
          [site, backups[0]],
          [bare, backups[1]],
        ] as const) {
          if (backup === undefined) throw new Error("There is no backup");
          const row = await harness.submit(restoring(site, target, backup, only));
          expect(row.state).toBe("failed");
          expect(row.public_error).toMatch(/kind|WordPress/);
        }
      });
      expect([await read(site), await read(bare)]).toEqual(["of WordPress", "of none"]);
      expect([await countBackups(site), await countBackups(bare)]).toEqual(before);
      expect(await readdir(join(world.facts.dataFolder, "work")).catch(() => [])).toEqual([]);
    },
  );
});

async function countBackups({ environment }: AddressedEnvironment): Promise<number> {
  const rows = world.own.database.selectFrom("backups").select("id").where("environment_id", "=", environment.id);
  return (await rows.execute()).length;
}

test("the newest backup is the one made last, even if the clock was set back in between", async () => {
  const site = await liveSite(world);
  await write(site, "one");
  const first = await backUpNow(site);
  const tomorrow = new Date(Date.now() + 86_400_000);
  const row = world.own.database.updateTable("backups").set({ created_at: tomorrow, expires_at: tomorrow });
  await row.where("id", "=", first.id).execute();
  await write(site, "two");
  const second = await backUpNow(site);
  const pool = openPool(world.facts.databaseUrl);
  const listed = await makeBackupLists(pool).list(site.environment.id);
  await pool.end();
  expect(listed?.backups.map(({ id }) => id)).toEqual([second.id, first.id]);
  const newest = await findNewestBackup(world.own.database, site.environment.id);
  expect(newest?.id).toBe(second.id);
});
