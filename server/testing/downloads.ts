/** Crash test subjects for downloadable backups: a live site, and checks of its download. */
import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import { openPromise } from "yauzl";
import type { AddDownloadableBackupInput } from "../operations/backups/addDownloadableBackup.ts";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { Subject } from "../operations/faults/testing/crashHarness.ts";
import { findDownloadableBackup, insertDownloadableBackup } from "../store/backups/downloadableBackups.ts";
import { systemActor } from "../store/company/activity.ts";
import { visit } from "./edge.ts";
import { liveSite } from "./sites.ts";
import type { World } from "./world.ts";

type Site = Awaited<ReturnType<typeof liveSite>>;

const inputs = new WeakMap<OperationRequest, { readonly site: Site; readonly input: AddDownloadableBackupInput }>();

/** Inserts the row, as the rule that starts the operation does, and returns the request. */
export async function downloadRequest(
  { own: { database } }: World,
  site: Site,
  backup: AddDownloadableBackupInput["backup"] = null,
): Promise<OperationRequest & { readonly input: AddDownloadableBackupInput }> {
  const { companyId, siteId, environment, address, name } = site;
  const id = randomUUID();
  const row = { id, companyId, siteId, environmentId: environment.id, fileName: "demo-live-2026-11-22.zip" };
  const expiresAt = new Date(Date.now() + 3_600_000);
  await database.transaction().execute((transaction) => insertDownloadableBackup(transaction, { ...row, expiresAt }));
  const input = { id, environment, address, environmentName: `${name}, Live`, backup };
  const request = {
    kind: "addDownloadableBackup",
    companyId,
    siteId,
    environmentId: environment.id,
    locks: [],
    input,
    whenBusy: "fail",
    actor: systemActor,
    activityParameters: { siteName: name },
  } as const;
  inputs.set(request, { site, input });
  return request;
}

/** Returns the files in a zip by name, without folders. */
export async function unzipped(file: string): Promise<ReadonlyMap<string, Buffer>> {
  const zip = await openPromise(file, { lazyEntries: true, autoClose: false });
  const found = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith("/")) continue;
    found.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  }
  zip.close();
  return found;
}

export function zipOf({ facts }: World, id: string): string {
  return join(facts.dataFolder, "downloads", `${id}.zip`);
}

async function differences(world: World, request: OperationRequest, isMade: boolean): Promise<string[]> {
  const prepared = inputs.get(request);
  if (!prepared) throw new Error("This request was not prepared here");
  const { site, input } = prepared;
  const row = await findDownloadableBackup(world.own.database, input.id);
  const files = await unzipped(zipOf(world, input.id)).catch(() => null);
  const left = await readdir(join(world.facts.dataFolder, "downloads")).catch(() => []);
  const found = {
    isFinished: row === null ? null : row.bytes !== null,
    hasFile: files?.has("public/index.php") ?? false,
    status: (await visit(world.facts.edgePort, site.address)).status,
    unfinished: left.filter((name) => name.startsWith(input.id) && name.endsWith(".new")),
    work: await readdir(join(world.facts.dataFolder, "work")).catch(() => []),
  };
  const wanted = { isFinished: isMade ? true : null, hasFile: isMade, status: 200, unfinished: [], work: [] };
  return isDeepStrictEqual({ ...found }, { ...wanted })
    ? []
    : [`found ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
}

export const makingDownload: Subject = {
  kind: "addDownloadableBackup",
  prepare: async (world) => downloadRequest(world, await liveSite(world)),
  finished: (world, request) => differences(world, request, true),
  undone: (world, request) => differences(world, request, false),
};
