/** What an environment's PHP sees: its own folders and shared code, at the same paths as in the playground. */
import { chownSync, mkdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { temporaryFolders } from "../fileTree.ts";
import { ownerOf } from "../owner.ts";
import { databaseFolder, sessionFolder, siteFolder, temporaryFolder } from "../phpFolders.ts";
import type { ServedEnvironment } from "../serving.ts";
import { releaseFolder } from "../site/release.ts";
import { driverFolder, driverPlace } from "../sqlite/driver.ts";
import type { Mount } from "./sandbox.ts";

interface Places {
  /** Folder of the asset store. */
  readonly assets: string;
  readonly environments: string;
}

/** Makes a folder that belongs to no release, if it is missing. */
function ownFolder({ number }: Pick<ServedEnvironment, "number">, folder: string): string {
  if (mkdirSync(folder, { recursive: true }) !== undefined && process.getuid?.() === 0)
    chownSync(folder, ownerOf(number), ownerOf(number));
  return folder;
}

/** Throws if the environment or its release doesn't exist. */
export function environmentMounts(
  environment: Pick<ServedEnvironment, "id" | "number" | "release" | "documentRoot" | "overlays">,
  { assets, environments }: Places,
): readonly Mount[] {
  const { release } = environment;
  const documentRoot = realpathSync(environment.documentRoot);
  const folder = realpathSync(path.join(environments, environment.id));
  // Each part of a release may be shared with another release.
  const database = realpathSync(path.join(releaseFolder(folder, release), "database"));
  const own = (from: string, to: string): Mount => ({ from: realpathSync(from), to, isWritable: true });
  return [
    own(documentRoot, siteFolder),
    ...sharedMounts(environment, assets),
    own(database, databaseFolder),
    own(ownFolder(environment, path.join(folder, temporaryFolders.sessions)), sessionFolder),
    own(ownFolder(environment, path.join(folder, temporaryFolders.temporary)), temporaryFolder),
  ];
}

/** The code that environments share. Throws if it doesn't exist. */
export function sharedMounts({ overlays }: Pick<ServedEnvironment, "overlays">, assets: string): readonly Mount[] {
  const hasSharedCode = Object.keys(overlays).length > 0;
  const shared = { ...overlays, ...(hasSharedCode && { [driverPlace]: driverFolder(assets) }) };
  return Object.entries(shared).map(([place, from]) => ({
    from: realpathSync(from),
    to: `${siteFolder}/${place}`,
    isWritable: false,
  }));
}
