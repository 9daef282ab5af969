/** Stages a release in which WordPress has another address. */
import path from "node:path";
import { copyLive } from "../copy.ts";
import { environmentFolders } from "../folders.ts";
import { sharePart, stageRelease } from "../releaseMoves.ts";
import { partOf, type Release, requireRelease, writeRecord } from "../releases.ts";
import type { AddressChange, StageAddressSpec } from "../runtime.ts";
import type { SiteContext } from "./context.ts";
import { readConfig, rewriteConfig } from "./copy/configCopy.ts";
import { databaseOf, giveToEnvironment, type ReleaseRecord, recordOf, reportFullDisk } from "./release.ts";
import { tablePrefixOf } from "./tablePrefix.ts";
import { addressChanger } from "./values/addressChanger.ts";

/** Copies the files only if the configuration contains the address, as in a network; otherwise shares them. */
async function layOutFiles(own: Release, folder: string, change: AddressChange): Promise<void> {
  const webRoot = await partOf(own, "public");
  const config = await readConfig(webRoot);
  if (config === null || addressChanger([change])(config) === config) return sharePart("public", own, folder);
  const copy = path.join(folder, "public");
  await copyLive(webRoot, copy);
  await rewriteConfig(copy, webRoot, [change]);
}

/** Implements `Runtime.stageAddress`. */
export async function stageAddress(
  { environment, token, change, isEverywhere }: StageAddressSpec,
  { environments, database }: SiteContext,
): Promise<void> {
  const { live } = environmentFolders(environments, environment);
  const plan = async () => {
    const own = await requireRelease(live);
    const { wordpressVersion, multisite, core } = recordOf(own);
    return async (folder: string) => {
      await layOutFiles(own, folder, change);
      const prefix = await tablePrefixOf(await partOf(own, "public"));
      const from = await databaseOf(environment, own);
      await database.move(from, path.join(folder, "database"), { prefix, change, isEverywhere });
      await giveToEnvironment(environment, folder);
      const record: ReleaseRecord = { wordpressVersion, multisite, core, token, previous: own.number };
      await writeRecord(folder, record);
    };
  };
  await reportFullDisk(() => stageRelease(live, token, plan));
}
