/** Backups of a company that has used its disk space, and changes that need one. */
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemActor } from "../../store/company/activity.ts";
import { setCompanyLimits } from "../../store/company/companyLimits.ts";
import { downloadRequest } from "../../testing/downloads.ts";
import { deletingEnvironment, modifyingPhpVersion } from "../../testing/environments.ts";
import { updatingPlugin } from "../../testing/packageUpdates.ts";
import { resettingSite } from "../../testing/resets.ts";
import { deletingSite, liveSite } from "../../testing/sites.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import type { OperationRequest } from "../engine/accept.ts";
import type { Subject } from "../faults/testing/crashHarness.ts";

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

type Site = Awaited<ReturnType<typeof liveSite>>;

const backupOf = ({ companyId, siteId, environment, address }: Site, kind: "addManualBackup" | "addScheduledBackup") =>
  ({
    ...{ kind, companyId, siteId, environmentId: environment.id, locks: [], whenBusy: "fail", actor: systemActor },
    input: { environment, address, note: null, isRetry: false, againAfter: null },
    activityParameters: {},
  }) satisfies OperationRequest;

const requests: readonly (readonly [string, (site: Site) => OperationRequest | Promise<OperationRequest>])[] = [
  ["manual", (site) => backupOf(site, "addManualBackup")],
  ["scheduled", (site) => backupOf(site, "addScheduledBackup")],
  ["downloadable", (site) => downloadRequest(world, site)],
];

async function useUpSpace({ database }: World["own"], companyId: string): Promise<void> {
  await database
    .transaction()
    .execute((transaction) => setCompanyLimits(transaction, companyId, { disk_bytes: 1_000_000 }));
  const pack = { id: randomUUID(), company_id: companyId, state: "kept", bytes: 1_000_000 } as const;
  await database.insertInto("packs").values(pack).execute();
}

test.each(requests)("a %s backup is refused, and the activity log has the reason", async (_, requestOf) => {
  const { database } = world.own;
  const site = await liveSite(world);
  await useUpSpace(world.own, site.companyId);
  const row = await withEngine(world, async (harness) => harness.submit(await requestOf(site)));
  expect(row.public_error).toContain("the company uses 1 MB of 1 MB, backups included");
  const entry = database.selectFrom("activity").select("public_error").where("id", "=", row.activity_id);
  expect((await entry.executeTakeFirstOrThrow()).public_error).toContain("the company uses 1 MB of 1 MB");
});

const changes: readonly Subject[] = [resettingSite, modifyingPhpVersion, updatingPlugin];

test.each(changes)("$kind is refused, because it needs a backup, and changes nothing", async (subject) => {
  const request = await subject.prepare(world);
  await useUpSpace(world.own, request.companyId);
  const row = await withEngine(world, (harness) => harness.submit(request));
  expect(row.public_error).toContain(
    "The backup before the change needs disk space, but the company uses 1 MB of 1 MB",
  );
  expect(await subject.undone(world, request)).toEqual([]);
});

test.each([deletingSite, deletingEnvironment])(
  "$kind still makes its backup, because it frees space",
  async (subject) => {
    const request = await subject.prepare(world);
    await useUpSpace(world.own, request.companyId);
    const row = await withEngine(world, (harness) => harness.submit(request));
    expect(row.state).toBe("succeeded");
    expect(await subject.finished(world, request)).toEqual([]);
  },
);
