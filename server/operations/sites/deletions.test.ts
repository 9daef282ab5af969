/** Deletions: the backup before them, deletions without a backup, and restores. */
import { randomBytes, randomUUID } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { beginBackup, findNewestBackup, finishBackup } from "../../store/backups/backups.ts";
import { backedUpSite } from "../../testing/backups.ts";
import { restoringDeletedEnvironment, restoringDeletedSite } from "../../testing/deleted.ts";
import { visit } from "../../testing/edge.ts";
import { deletingEnvironment } from "../../testing/environments.ts";
import { checkKept, deletingSite } from "../../testing/sites.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import type { RestoreDeletedInput } from "../backups/restoreDeleted.ts";
import type { OperationRequest } from "../engine/accept.ts";
import { StepFailure } from "../engine/operation.ts";
import type { DeleteSiteInput } from "./deleteSite.ts";

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const run = (request: OperationRequest) => withEngine(world, (harness) => harness.submit(request));
const bypassHint = 'To delete it permanently and without a backup, send { "without_backup": true }.';

const subjects = [
  ["site", deletingSite],
  ["environment", deletingEnvironment],
] as const;

/** The same deletion, without a backup. */
function permanently(request: OperationRequest): OperationRequest {
  return { ...request, input: { ...Object(request.input), withoutBackup: true } };
}

test.each(subjects)(
  "a %s that can't be backed up is not deleted and stays online, and the error says how to delete it anyway",
  async (_, subject) => {
    const request = await subject.prepare(world);
    // A file in place of the archives' folder.
    await writeFile(join(world.facts.dataFolder, "archives"), "");
    const row = await run(request);
    // Detected before anything was changed.
    expect(row).toMatchObject({ state: "failed", steps_done: subject === deletingSite ? 0 : 1 });
    expect(row.public_error).toMatch(
      /^The archive folder is missing, or there is something else at its path\. The operator finds the cause in the log under/,
    );
    expect(row.public_error?.endsWith(bypassHint)).toBe(true);
    expect(await subject.undone(world, request)).toEqual([]);
  },
);

test.each(subjects)("a %s is not deleted if the disk is full, and the error says so", async (_, subject) => {
  const request = await subject.prepare(world);
  const { script } = createFakeRuntime({ folder: join(world.facts.dataFolder, "fake") });
  const message = "There is not enough room on the server's disk.";
  await script.setFaults([{ method: "snapshot", when: "middle", kind: "fail", message }]);
  expect(await run(request)).toMatchObject({ state: "failed", public_error: `${message} ${bypassHint}` });
  await script.setFaults([]);
  expect(await subject.undone(world, request)).toEqual([]);
});

test.each(subjects)("while a %s is backed up, visitors can read it, but writes are refused", async (_, subject) => {
  const request = await subject.prepare(world);
  const { archives } = world.services;
  const seen: { readonly status: number; readonly isFrozen: boolean }[] = [];
  const watched: World = {
    ...world,
    services: {
      ...world.services,
      archives: {
        ...archives,
        keep: async (...archive) => {
          const row = await world.own.database
            .selectFrom("environments as e")
            .innerJoin("domains as d", "d.environment_id", "e.id")
            .select(["e.is_frozen", "d.name"])
            .where("e.id", "=", request.environmentId)
            .executeTakeFirstOrThrow();
          const { status } = await visit(world.facts.edgePort, `http://${row.name}:${world.facts.edgePort}`);
          seen.push({ status, isFrozen: row.is_frozen });
          return archives.keep(...archive);
        },
      },
    },
  };
  expect((await withEngine(watched, (harness) => harness.submit(request))).state).toBe("succeeded");
  expect(seen).toEqual([{ status: 200, isFrozen: true }]);
  expect(await subject.finished(world, request)).toEqual([]);
});

test.each(subjects)("a %s is writable again if its backup fails", async (_, subject) => {
  const request = await subject.prepare(world);
  const { archives } = world.services;
  const keep = () => Promise.reject(new StepFailure("The store is closed."));
  const closed: World = { ...world, services: { ...world.services, archives: { ...archives, keep } } };
  const row = await withEngine(closed, (harness) => harness.submit(request));
  expect(row).toMatchObject({ state: "failed", public_error: `The store is closed. ${bypassHint}` });
  expect(await subject.undone(world, request)).toEqual([]);
  const frozen = world.own.database.selectFrom("environments").select("id").where("is_frozen", "=", true);
  expect(await frozen.execute()).toEqual([]);
});

test("disk space for the backup is checked first", async () => {
  const request = await deletingSite.prepare(world);
  const { runtime } = world.services;
  const nearlyFull = {
    ...runtime,
    diskUse: async () => ({ files: 300e6, database: 100e6, temporary: 0 }),
    freeDisk: async () => 500e6,
  };
  const small: World = { ...world, services: { ...world.services, runtime: nearlyFull } };
  const row = await withEngine(small, (harness) => harness.submit(request));
  expect(row.public_error).toBe(
    `The backup before the deletion needs about 550 MB on the server's disk, but only 500 MB are free for sites. Nothing was changed. ${bypassHint}`,
  );
  expect(row.steps_done).toBe(0);
});

test("a permanent deletion works without the archives and also removes earlier backups", async () => {
  const { site } = await backedUpSite(world);
  await rename(join(world.facts.dataFolder, "archives"), join(world.facts.dataFolder, "elsewhere"));
  await writeFile(join(world.facts.dataFolder, "archives"), "");
  const { companyId, siteId, environment, address } = site;
  const input: DeleteSiteInput = { siteId, environments: [{ ...environment, address }], withoutBackup: true };
  const request = { ...(await deletingSite.prepare(world)), companyId, siteId, environmentId: environment.id, input };
  expect((await run({ ...request, locks: [environment.id] })).state).toBe("succeeded");
  expect((await visit(world.facts.edgePort, address)).status).toBe(404);
  expect(await checkKept(world, site, { deletedSites: 0, deletedEnvironments: 0, backups: 0 })).toEqual([]);
});

test("a permanent deletion of an environment removes its backups", async () => {
  const request = await deletingEnvironment.prepare(world);
  const siteId = request.siteId ?? "";
  expect((await run(permanently(request))).state).toBe("succeeded");
  expect(await checkKept(world, { siteId }, { deletedSites: 0, deletedEnvironments: 0, backups: 0 })).toEqual([]);
});

test("a permanent deletion of a site also removes its deleted environments", async () => {
  const restore = await restoringDeletedEnvironment.prepare(world);
  const siteId = restore.siteId ?? "";
  // Removes the row of the environment that would be restored.
  await world.own.database.deleteFrom("environments").where("id", "=", restore.environmentId).execute();
  expect(await checkKept(world, { siteId }, { deletedSites: 0, deletedEnvironments: 1, backups: 1 })).toEqual([]);
  const left = world.own.database.selectFrom("environments").select(["id", "number"]).where("site_id", "=", siteId);
  const environments = (await left.execute()).map((each) => ({ ...each, address: "http://x.localhost" }));
  const input: DeleteSiteInput = { siteId, environments, withoutBackup: true };
  const locks = environments.map(({ id }) => id);
  expect((await run({ ...restore, kind: "deleteSite", locks, input })).state).toBe("succeeded");
  expect(await checkKept(world, { siteId }, { deletedSites: 0, deletedEnvironments: 0, backups: 0 })).toEqual([]);
});

test("a deletion that waited for another deletion of the same site succeeds", async () => {
  const prepared = await deletingSite.prepare(world);
  const request = { ...prepared, whenBusy: "queue" } as const;
  await withEngine(world, async (harness) => {
    // Either may be accepted first.
    const both = await Promise.all([harness.submit(request), harness.submit(request)]);
    expect(both.map(({ state }) => state)).toEqual(["succeeded", "succeeded"]);
  });
  expect(await deletingSite.finished(world, prepared)).toEqual([]);
});

/** The request with changes to all of its environments. */
function changed(request: OperationRequest, change: Partial<RestoreDeletedInput["environments"][number]>) {
  const input: RestoreDeletedInput = Object(request.input);
  const environments = input.environments.map((each) => ({ ...each, ...change }));
  return { ...request, input: { ...input, environments } };
}

test("an environment that is restored at another address has that address", async () => {
  const request = await restoringDeletedEnvironment.prepare(world);
  const address = `http://elsewhere.localhost:${world.facts.edgePort}`;
  const host = { name: "elsewhere.localhost" };
  await world.own.database
    .updateTable("domains")
    .set(host)
    .where("environment_id", "=", request.environmentId)
    .execute();
  const row = await run(changed(request, { address }));
  expect(row).toMatchObject({ state: "succeeded", result: { address } });
  const layout = await world.services.runtime.layout({ id: request.environmentId ?? "", number: 1 });
  const facts = await world.services.runtime.wordpress({ id: request.environmentId ?? "", number: 1 });
  expect(layout).not.toBeNull();
  expect(facts?.title).toMatch(/^Title/);
  expect((await visit(world.facts.edgePort, address)).status).toBe(200);
});

test.each([
  ["site", restoringDeletedSite],
  ["environment", restoringDeletedEnvironment],
] as const)("a %s whose backup was removed is not restored, and its names are free", async (_, subject) => {
  const request = await subject.prepare(world);
  const row = await run(changed(request, { backupId: 2_147_483_647 }));
  expect(row).toMatchObject({ state: "failed", public_error: "The backup no longer exists." });
  expect(await subject.undone(world, request)).toEqual([]);
});

/** Adds a newest backup that has no data in the archives. */
async function addLostBackup(request: OperationRequest) {
  const facts = { operationId: randomUUID(), type: "system-generated", name: "Lost", note: null } as const;
  const options = { ...facts, environmentId: request.environmentId ?? "", address: "http://x.localhost" };
  const backup = await beginBackup(world.own.database, { ...options, expiresAt: new Date(Date.now() + 86_400_000) });
  if (backup === null) throw new Error("The environment does not exist");
  const content = { manifest: randomBytes(32), files: 1, bytes: 1, addedBytes: 1 };
  await finishBackup(world.own.database, backup, content);
  return backup.id;
}

function warningIn(siteId: string | null) {
  return world.own.database
    .selectFrom("activity")
    .select(["has_failed", "has_warning", "public_error"])
    .where("site_id", "=", siteId)
    .orderBy("id", "desc")
    .executeTakeFirst();
}

test.each([
  ["site", restoringDeletedSite],
  ["environment", restoringDeletedEnvironment],
] as const)(
  "a %s whose newest backup is damaged is restored from the one before, with a warning",
  async (_, subject) => {
    const request = await subject.prepare(world);
    const [first] = Object(request.input).environments;
    const lost = await addLostBackup(request);
    const input: RestoreDeletedInput = Object(request.input);
    const environments = input.environments.map((each, at) => (at === 0 ? { ...each, backupId: lost } : each));
    const row = await run({ ...request, input: { ...input, environments } });
    expect(row).toMatchObject({ state: "succeeded" });
    const made = Object(row.result).environments;
    expect(made).toHaveLength(environments.length);
    expect(made[0]).toMatchObject({
      environment_id: request.environmentId,
      backup_id: first.backupId,
      damaged_backups: 1,
    });
    expect((await visit(world.facts.edgePort, first.address)).status).toBe(200);
    expect(await warningIn(request.siteId)).toMatchObject({
      has_failed: false,
      has_warning: true,
      public_error: expect.stringMatching(
        /newest backups \(1\) are missing or damaged, so it was restored from the backup of 20/,
      ),
    });
  },
);

test("if no backup is intact, the restore fails, lists the backups, and says how to restore without them", async () => {
  const request = await restoringDeletedSite.prepare(world);
  const input: RestoreDeletedInput = Object(request.input);
  await rm(join(world.facts.dataFolder, "archives", "packs"), { recursive: true });
  const row = await run(request);
  expect(row.state).toBe("failed");
  expect(row.public_error).toContain(`all of its backups (${input.environments[0]?.backupId}) are missing or damaged`);
  expect(row.public_error).toContain("remove these backups to restore the site without it");
  expect(await restoringDeletedSite.undone(world, request)).toEqual([]);
});

test("a site is restored even if it answers with an error", async () => {
  const request = await restoringDeletedEnvironment.prepare(world);
  const probes: string[] = [];
  const failing: World = {
    ...world,
    services: {
      ...world.services,
      probe: async (_, __, wanted) => {
        probes.push(wanted);
        if (wanted !== "sign") throw new Error("It answered with status 503.");
      },
    },
  };
  expect((await withEngine(failing, (harness) => harness.submit(request))).state).toBe("succeeded");
  expect(probes).toEqual(["answer", "sign"]);
});

test("the backup before a deletion has a name and is kept as long as the deletion can be restored", async () => {
  const services = { ...world.services, backupDays: { manual: 1, scheduled: 1, "system-generated": 1 } };
  const request = await deletingEnvironment.prepare(world);
  const row = await withEngine({ ...world, services }, (harness) => harness.submit(request));
  const backup = await findNewestBackup(world.own.database, request.environmentId ?? "");
  const { name, note, type, operation_id, expires_at } = await world.own.database
    .selectFrom("backups")
    .selectAll()
    .where("id", "=", backup?.id ?? 0)
    .executeTakeFirstOrThrow();
  expect({ name, note, type, operation_id }).toEqual({
    name: "Before the deletion",
    note: "Before the deletion",
    type: "system-generated",
    operation_id: row.id,
  });
  const deleted = world.own.database.selectFrom("deleted_environments").select("restorable_until");
  expect(await deleted.executeTakeFirst()).toEqual({ restorable_until: expires_at });
  const days = (expires_at.getTime() - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(services.restorableDays - 0.1);
  expect(days).toBeLessThan(services.restorableDays + 0.1);
});
