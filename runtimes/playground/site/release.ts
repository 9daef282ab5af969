/**
 * An environment on disk:
 *
 *     <environments>/<id>/current            → releases/<n>
 *     <environments>/<id>/releases/<n>/public      the web root
 *     <environments>/<id>/releases/<n>/database    outside of it
 *     <environments>/<id>/releases/<n>/release.json
 *     <environments>/<id>/sessions                 PHP's sessions, shared by releases
 */
import { readFile, readlink, realpath } from "node:fs/promises";
import path from "node:path";
import type { EnvironmentLayout, MultisiteKind } from "../../runtime.ts";
import { sharedFolders } from "../php/site.ts";

export interface ReleaseRecord {
  readonly wordpressVersion: string;
  readonly multisite: MultisiteKind | null;
  /** Folder of WordPress's shared code, relative to the asset store. */
  readonly core: string;
}

/** Unprivileged, and one for each environment: nobody else's files are theirs, and theirs nobody else's. */
export function ownerOf(number: number): number {
  return 200_000 + number;
}

export function releaseFolder(environmentFolder: string, release: number): string {
  return path.join(environmentFolder, "releases", String(release));
}

export function recordFile(release: string): string {
  return path.join(release, "release.json");
}

function isRecord(value: unknown): value is ReleaseRecord {
  return typeof value === "object" && value !== null && "wordpressVersion" in value && "core" in value;
}

/** Null where the environment is not there. */
export async function readRelease(
  environmentFolder: string,
): Promise<{ readonly number: number; readonly record: ReleaseRecord } | null> {
  const link = await readlink(path.join(environmentFolder, "current")).catch(() => null);
  if (link === null) return null;
  const parsed: unknown = JSON.parse(await readFile(recordFile(path.join(environmentFolder, link)), "utf8"));
  if (!isRecord(parsed)) throw new Error(`The release of ${environmentFolder} is damaged.`);
  return { number: Number(path.basename(link)), record: parsed };
}

export async function readLayout(environmentFolder: string, assets: string): Promise<EnvironmentLayout | null> {
  const release = await readRelease(environmentFolder);
  if (release === null) return null;
  const core = path.join(assets, release.record.core);
  return {
    release: release.number,
    documentRoot: await realpath(path.join(releaseFolder(environmentFolder, release.number), "public")),
    overlays: Object.fromEntries(sharedFolders.map((name) => [name, path.join(core, name)])),
    multisite: release.record.multisite,
  };
}
