import { randomUUID } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findNewestBackup, removeBackupById, removeExpiredBackups } from "../../store/backups/backups.ts";
import { findDownloadableBackup } from "../../store/backups/downloadableBackups.ts";
import { systemActor } from "../../store/company/activity.ts";
import type { Database } from "../../store/database.ts";
import { setEnvironmentState } from "../../store/traffic/routes.ts";
import { downloadRequest, makingDownload, unzipped, zipOf } from "../../testing/downloads.ts";
import { liveSite } from "../../testing/sites.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import type { OperationRequest } from "../engine/accept.ts";
import { backUp } from "../steps/backup.ts";
import type { Services } from "../steps/services.ts";
import { addDownloadableBackup } from "./addDownloadableBackup.ts";

const worlds: World[] = [];
beforeAll(async () => {
  worlds.push(await makeWorld());
});
afterAll(() => Promise.all(worlds.map((world) => world[Symbol.asyncDispose]())));

function theWorld(): World {
  const [world] = worlds;
  if (!world) throw new Error("The world is missing");
  return world;
}

const { signal } = new AbortController();

type Site = Awaited<ReturnType<typeof liveSite>>;

const run = (request: OperationRequest) => withEngine(theWorld(), (harness) => harness.submit(request));
const scriptOf = ({ facts }: World) => createFakeRuntime({ folder: join(facts.dataFolder, "fake") }).script;

async function write({ services }: World, { environment }: Site, text: string): Promise<void> {
  const layout = await services.runtime.layout(environment);
  await writeFile(join(layout?.documentRoot ?? "", "own.txt"), text);
}

/** Runs only the last step, with this function to write zips. */
async function pack(request: Awaited<ReturnType<typeof downloadRequest>>, write: Services["downloads"]["write"]) {
  const { services } = theWorld();
  const definition = addDownloadableBackup({ ...services, downloads: { ...services.downloads, write } });
  const operationId = `backups:add-downloadable-${randomUUID()}`;
  await definition.steps.at(-1)?.run({ ...request, operationId, signal, secret: () => "" });
}

function deletionOf({ companyId, siteId, environment, address }: Site): OperationRequest {
  const ids = { companyId, siteId, environmentId: environment.id, locks: [environment.id] };
  const input = { siteId, environments: [{ ...environment, address }], withoutBackup: false };
  return { kind: "deleteSite", ...ids, input, whenBusy: "fail", actor: systemActor, activityParameters: {} };
}

test("the zip has the current state of the environment, and a README on how to run it elsewhere", async () => {
  const world = theWorld();
  const site = await liveSite(world);
  await write(world, site, "now");
  const request = await downloadRequest(world, site);
  const row = await run(request);
  expect(row.public_error).toBeNull();
  const { id } = request.input;
  const found = await findDownloadableBackup(world.own.database, id);
  const hoursLeft = ((found?.expiresAt.getTime() ?? 0) - Date.now()) / 3_600_000;
  expect(Math.round(hoursLeft)).toBe(72);
  expect(row.result).toEqual({ id, file_name: found?.fileName, expires_at: found?.expiresAt.getTime() });
  const files = await unzipped(zipOf(world, id));
  expect([...files.keys()]).toEqual(
    expect.arrayContaining(["README.txt", "database.sql", "public/index.php", "public/wp-includes/index.php"]),
  );
  expect(files.get("public/own.txt")?.toString()).toBe("now");
  const readme = files.get("README.txt")?.toString();
  expect(readme).toContain(`${site.name}, Live: the environment when this zip was made`);
  for (const part of ["WordPress 7.1.1.", "PHP 8.3", site.address, "< database.sql", "DB", "search-replace"]) {
    expect(readme).toContain(part === "DB" ? "database_name_here" : part);
  }
});

test("the zip has the state of a backup, also of another environment", async () => {
  const world = theWorld();
  const [site, other] = [await liveSite(world), await liveSite(world)];
  await write(world, site, "then");
  const { environment, address } = site;
  const options = {
    environment,
    address,
    operationId: randomUUID(),
    type: "manual",
    name: "Then",
    note: null,
  } as const;
  await backUp(world.services, options, signal);
  await write(world, site, "now");
  const backup = await findNewestBackup(world.own.database, environment.id);
  const request = await downloadRequest(world, other, { id: backup?.id ?? 0, name: "Then" });
  expect((await run(request)).state).toBe("succeeded");
  const files = await unzipped(zipOf(world, request.input.id));
  expect(files.get("public/own.txt")?.toString()).toBe("then");
  expect(files.get("README.txt")?.toString()).toContain(': the backup "Then"');
  expect(files.get("README.txt")?.toString()).toContain(site.address);
});

test("fails if the backup was removed meanwhile", async () => {
  const world = theWorld();
  const request = await downloadRequest(world, await liveSite(world), { id: 2_147_483_647, name: "Gone" });
  expect(await run(request)).toMatchObject({ state: "failed", public_error: "The backup no longer exists." });
  expect(await makingDownload.undone(world, request)).toEqual([]);
});

/** Downloads a backup of one site for another site, and runs `work` while it is fetched. */
async function downloadWhile(work: (database: Database, backupId: number) => Promise<unknown>) {
  const world = theWorld();
  const [site, other] = [await liveSite(world), await liveSite(world)];
  const { environment, address } = site;
  const options = {
    environment,
    address,
    operationId: randomUUID(),
    type: "manual",
    name: "Then",
    note: null,
  } as const;
  await backUp(world.services, options, signal);
  const backup = await findNewestBackup(world.own.database, environment.id);
  const { archives } = world.services;
  const restore: typeof archives.restore = async (...order) => {
    await work(world.own.database, backup?.id ?? 0);
    return archives.restore(...order);
  };
  const request = await downloadRequest(world, other, { id: backup?.id ?? 0, name: "Then" });
  // A newer backup, so that the first one can expire.
  await backUp(world.services, { ...options, operationId: randomUUID() }, signal);
  const services = { ...world.services, archives: { ...archives, restore } };
  return withEngine({ ...world, services }, (harness) => harness.submit(request));
}

test("a backup that is removed during the download does not count as damaged, and does not expire meanwhile", async () => {
  const message = "The backup no longer exists.";
  expect(await downloadWhile(removeBackupById)).toMatchObject({ state: "failed", public_error: message });
  const later = new Date(Date.now() + 100 * 86_400_000);
  expect(await downloadWhile((database) => removeExpiredBackups(database, later))).toMatchObject({
    state: "succeeded",
  });
});

test("two downloads and another operation of the same environment run at the same time", async () => {
  const world = theWorld();
  const site = await liveSite(world);
  const requests = [await downloadRequest(world, site), await downloadRequest(world, site)];
  const slow = { method: "exportSite", when: "middle", kind: "slow", milliseconds: 300 } as const;
  await scriptOf(world).setFaults([slow]);
  const input = { environment: site.environment, address: site.address, note: null };
  const ids = { companyId: site.companyId, siteId: site.siteId, environmentId: site.environment.id };
  const other: OperationRequest = {
    kind: "addManualBackup",
    ...ids,
    locks: [site.environment.id],
    input,
    whenBusy: "fail",
    actor: systemActor,
    activityParameters: {},
  };
  const rows = await withEngine(world, (harness) =>
    Promise.all([...requests, other].map((one) => harness.submit(one))),
  );
  await scriptOf(world).setFaults([]);
  expect(rows.map(({ state }) => state)).toEqual(["succeeded", "succeeded", "succeeded"]);
  for (const request of requests) expect(await makingDownload.finished(world, request)).toEqual([]);
});

test("a fourth download of the same environment at the same time fails", async () => {
  const world = theWorld();
  const [site, other] = [await liveSite(world), await liveSite(world)];
  for (let count = 0; count < 3; count += 1) await downloadRequest(world, site);
  const [fourth, elsewhere] = [await downloadRequest(world, site), await downloadRequest(world, other)];
  const message =
    "3 downloadable backups of this environment are already being created. Try again when one of them is finished.";
  expect(await run(fourth)).toMatchObject({ state: "failed", public_error: message });
  expect(await makingDownload.undone(world, fourth)).toEqual([]);
  expect((await run(elsewhere)).state).toBe("succeeded");
});

test("if the site is deleted meanwhile, all its downloads are removed", async () => {
  const world = theWorld();
  const { services, own } = world;
  const site = await liveSite(world);
  const [made, making] = [await downloadRequest(world, site), await downloadRequest(world, site)];
  expect((await run(made)).state).toBe("succeeded");
  const write: typeof services.downloads.write = async (...parameters) => {
    const bytes = await services.downloads.write(...parameters);
    expect((await run(deletionOf(site))).state).toBe("succeeded");
    return bytes;
  };
  await expect(pack(making, write)).rejects.toThrow("The environment no longer exists.");
  for (const { input } of [making, made]) {
    expect(await findDownloadableBackup(own.database, input.id)).toBeNull();
    await expect(unzipped(zipOf(world, input.id))).rejects.toThrow("ENOENT");
  }
  expect(await readdir(join(world.facts.dataFolder, "work"))).toEqual([]);
});

test.each([
  ["was", (site: Site) => run(deletionOf(site))],
  ["is being", ({ environment }: Site) => setEnvironmentState(theWorld().own.database, [environment.id], "deleting")],
])("if the site %s deleted while its zip is written, the error says so", async (_, deleting) => {
  const { services } = theWorld();
  const site = await liveSite(theWorld());
  const making = await downloadRequest(theWorld(), site);
  const write: typeof services.downloads.write = async (id) => {
    await deleting(site);
    await services.downloads.remove(id);
    // The error when the finished file is renamed.
    throw Object.assign(new Error("ENOENT: no such file or directory, rename"), { code: "ENOENT" });
  };
  await expect(pack(making, write)).rejects.toThrow("The environment no longer exists.");
});

test("if the environment is replaced during the snapshot, the snapshot is repeated", async () => {
  const world = theWorld();
  const [{ runtime }, script] = [world.services, scriptOf(world)];
  const site = await liveSite(world);
  const { environment } = site;
  const nothing = { files: "none", database: "none", addresses: [] } as const;
  await runtime.stage({ environment, source: environment, token: "next", ...nothing });
  const until = join(world.facts.dataFolder, `go-on-${randomUUID()}`);
  await script.setFaults([{ method: "snapshot", when: "middle", kind: "wait", until, times: 1 }]);
  const request = await downloadRequest(world, site);
  const running = run(request);
  const inTheMiddle = { method: "snapshot", environmentId: environment.id, when: "middle" };
  await expect.poll(() => script.calls(), { timeout: 20_000 }).toContainEqual(inTheMiddle);
  await runtime.switchTo(environment, "next");
  await writeFile(until, "");
  expect(await running).toMatchObject({ state: "succeeded", public_error: null });
  expect(await makingDownload.finished(world, request)).toEqual([]);
});

test("a failed download leaves nothing behind, and shows the reason", async () => {
  const world = theWorld();
  const message = "A database is damaged, so it can't be copied.";
  await scriptOf(world).setFaults([{ method: "exportSite", when: "middle", kind: "fail", message }]);
  const request = await downloadRequest(world, await liveSite(world));
  expect(await run(request)).toMatchObject({ state: "failed", public_error: message });
  await scriptOf(world).setFaults([]);
  expect(await makingDownload.undone(world, request)).toEqual([]);
});
