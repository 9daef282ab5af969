import { rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readSpec } from "@sitewright/runtimes/fake/runtime.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeRebuild } from "../../app/backups/rebuild.ts";
import { rebuildEnvironments } from "../../reconcilers/rebuildEnvironments.ts";
import { makeSealer } from "../../sealing.ts";
import { removeExpiredBackups } from "../../store/backups/backups.ts";
import { deletedSiteForRestore } from "../../store/backups/deletedSites.ts";
import { setEnvironmentState } from "../../store/traffic/routes.ts";
import { visit } from "../../testing/edge.ts";
import { backUpWith, type LiveSite } from "../../testing/installation.ts";
import { rebuildOf, seen, stillAway, takeAway, thereAgain } from "../../testing/rebuilds.ts";
import { liveSite } from "../../testing/sites.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import { operationDefinitions } from "../definitions.ts";
import { makeAcceptOperation, type OperationRequest } from "../engine/accept.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** A site whose files are not on this machine, with backups of these contents, oldest first. */
async function awaySite(...contents: string[]) {
  const site = await liveSite(world);
  const backups: number[] = [];
  for (const content of contents) backups.push(await backUpWith(world, site, content));
  await takeAway(world, site);
  return { site, backups };
}

function carryOut(request: OperationRequest) {
  return withEngine(world, (harness) => harness.submit(request));
}

/** The archive files that only this backup needs. */
async function packsOf(backupId: number | undefined): Promise<string[]> {
  const rows = await world.own.database
    .selectFrom("backup_packs as b")
    .innerJoin("packs as p", "p.id", "b.pack_id")
    .select(["p.id", "p.company_id"])
    .where("b.backup_id", "=", backupId ?? 0)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("backup_packs as other")
            .whereRef("other.pack_id", "=", "p.id")
            .where("other.backup_id", "<>", backupId ?? 0)
            .select("other.pack_id"),
        ),
      ),
    )
    .execute();
  expect(rows.length).toBeGreaterThan(0);
  return rows.map(({ id, company_id }) => join(world.facts.dataFolder, "archives", "packs", company_id, id));
}

async function entryOf(siteId: string) {
  return world.own.database
    .selectFrom("activity")
    .select(["has_failed", "has_warning", "public_error"])
    .where("site_id", "=", siteId)
    .where("type", "=", "rebuildEnvironment")
    .orderBy("id", "desc")
    .executeTakeFirstOrThrow();
}

describe("an environment of an installation that was moved", () => {
  test("is restored from its newest backup, which the result names", async () => {
    const { site, backups } = await awaySite("before", "then");
    expect(await seen(world, site)).toEqual(stillAway);
    const ended = await carryOut(rebuildOf(site, null));
    expect(ended).toMatchObject({
      state: "succeeded",
      result: { backup_id: backups[1], damaged_backups: 0, answers: true },
    });
    expect(await seen(world, site)).toEqual(thereAgain);
    expect(await entryOf(site.siteId)).toEqual({ has_failed: false, has_warning: false, public_error: null });
  });

  test("gets a new address if the installation has one", async () => {
    const { site } = await awaySite("then");
    const address = site.address.replace(/:\d+$/, ":9");
    await carryOut(rebuildOf({ ...site, address }, null));
    const layout = await world.services.runtime.layout(site.environment);
    const spec = await readSpec(join(layout?.documentRoot ?? "", "..", "spec.json"));
    expect(spec?.wordpress?.address).toBe(address);
  });

  test.each([
    ["is missing", (file: string) => rm(file)],
    ["was cut off", (file: string) => truncate(file, 10)],
    ["was changed", (file: string) => overwrite(file)],
  ])("is restored from an older backup, with a warning, if a part of the newest %s", async (_, damage) => {
    const { site, backups } = await awaySite("then", "later");
    for (const file of await packsOf(backups[1])) await damage(file);
    const ended = await carryOut(rebuildOf(site, null));
    expect(ended).toMatchObject({ state: "succeeded", result: { backup_id: backups[0], damaged_backups: 1 } });
    expect(await seen(world, site)).toEqual(thereAgain);
    const entry = await entryOf(site.siteId);
    expect(entry).toMatchObject({ has_failed: false, has_warning: true });
    expect(entry.public_error).toMatch(
      /^Its newest backups \(1\) are missing or damaged, so it was restored from the backup of 20/,
    );
  });

  test("is restored only when a backup is intact", async () => {
    const { site, backups } = await awaySite("then");
    const [file = ""] = await packsOf(backups[0]);
    const away = `${file}-away`;
    await rename(file, away);
    const failed = await carryOut(rebuildOf(site, null));
    expect(failed).toMatchObject({ state: "failed" });
    expect(failed.public_error).toContain("missing or damaged in the archives");
    expect(await seen(world, site)).toEqual(stillAway);
    await rename(away, file);
    expect(await carryOut(rebuildOf(site, null))).toMatchObject({ state: "succeeded" });
    expect(await seen(world, site)).toEqual(thereAgain);
  });

  test("without a backup fails, and can be restored from another environment's backup", async () => {
    const { site } = await awaySite();
    const failed = await carryOut(rebuildOf(site, null));
    expect(failed.public_error).toContain("has no backup to restore from");
    const other = await liveSite(world);
    const backupId = await backUpWith(world, other, "then");
    expect(await carryOut(rebuildOf(site, backupId))).toMatchObject({ state: "succeeded" });
    expect(await seen(world, site)).toEqual(thereAgain);
  });

  test("rejects other operations until then, but can be deleted and restored", async () => {
    const { site, backups } = await awaySite("then");
    const { kind: _, input: __, ...rest } = rebuildOf(site, null);
    const options = { environment: site.environment, address: site.address, note: null };
    const refused = await carryOut({ ...rest, kind: "addManualBackup", input: options });
    expect(refused).toMatchObject({ state: "failed" });
    expect(refused.public_error).toContain("still being restored");
    const environments = [{ ...site.environment, address: site.address }];
    const input = { siteId: site.siteId, environments, withoutBackup: false };
    expect(await carryOut({ ...rest, kind: "deleteSite", input })).toMatchObject({ state: "succeeded" });
    expect((await visit(world.facts.edgePort, site.address)).status).toBe(404);
    const deleted = await world.own.database
      .transaction()
      .execute((transaction) => deletedSiteForRestore(transaction, site.siteId));
    expect(deleted?.environments).toMatchObject([{ id: site.environment.id, backup_id: backups[0] }]);
  });

  test("still awaits its restore after a deletion was undone", async () => {
    const { site } = await awaySite("then");
    await setEnvironmentState(world.own.database, [site.environment.id], "deleting");
    await setEnvironmentState(world.own.database, [site.environment.id], "serving");
    expect(await seen(world, site)).toEqual(stillAway);
  });

  test("keeps its backups until then, even expired ones", async () => {
    const { site, backups } = await awaySite("then", "later");
    const inAMonth = new Date(Date.now() + 30 * 86_400_000);
    await removeExpiredBackups(world.own.database, inAMonth);
    const left = await world.own.database.selectFrom("backups").select("id").execute();
    expect(left.map(({ id }) => id)).toContain(backups[0]);
    await carryOut(rebuildOf(site, null));
    await removeExpiredBackups(world.own.database, inAMonth);
    const later = await world.own.database.selectFrom("backups").select("id").execute();
    expect(later.map(({ id }) => id)).not.toContain(backups[0]);
  });
});

/** Overwrites the file with zeros of the same length. */
async function overwrite(file: string): Promise<void> {
  const { size } = await stat(file);
  await writeFile(file, Buffer.alloc(size));
}

describe("the reconciler", () => {
  /** Runs the reconciler without an engine, and returns the environments of running operations. */
  async function started(startedAt: Date, own: World): Promise<string[]> {
    const { database } = own.own;
    const sealer = makeSealer(Buffer.alloc(32));
    const acceptOperation = makeAcceptOperation({ sealer, definitions: operationDefinitions(own.services) });
    const settings = {
      host: "127.0.0.1",
      siteSuffix: "localhost",
      apiName: null,
      apiHost: "127.0.0.1",
      publicPort: own.facts.edgePort,
      endedPhpVersions: [],
      publicTlsPort: 8443,
      dnsNames: [],
      edgeAddresses: [],
    };
    const rebuild = makeRebuild({ database, settings, acceptOperation });
    await rebuildEnvironments({ database, startedAt, rebuild });
    const rows = await database
      .selectFrom("operations")
      .select("environment_id")
      .where("kind", "=", "rebuildEnvironment")
      .where("state", "=", "running")
      .execute();
    return rows.map(({ environment_id }) => environment_id ?? "");
  }

  async function failAll({ own }: World): Promise<void> {
    await own.database.deleteFrom("environment_locks").execute();
    await own.database.updateTable("operations").set({ state: "failed", finished_at: new Date() }).execute();
  }

  test("starts two restores at a time, and only of marked environments", async () => {
    await using own = await makeWorld();
    const sites: LiveSite[] = [];
    for (let count = 0; count < 4; count += 1) sites.push(await liveSite(own));
    const ids = sites.map(({ environment }) => environment.id);
    for (const site of sites.slice(0, 3)) await takeAway(own, site);
    const [, , , unmarked] = sites;
    if (unmarked) await own.services.runtime.destroy(unmarked.environment);
    const startedAt = new Date();
    expect((await started(startedAt, own)).sort()).toEqual(ids.slice(0, 2).sort());
    expect(await started(startedAt, own)).toHaveLength(2);
    await failAll(own);
    // Failed restores are retried later, or by the next process.
    expect(await started(startedAt, own)).toEqual(ids.slice(2, 3));
    await failAll(own);
    expect(await started(startedAt, own)).toEqual([]);
    expect(await started(new Date(), own)).toHaveLength(2);
  });
});
