/** Gets the tarball: an earlier download, else npm's cache, else the registry. */
import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { isDiskFull } from "../copy.ts";
import { exists } from "../folders.ts";
import { type Progress, RuntimeFailure } from "../runtime.ts";
import { DownloadRefused, download } from "./download.ts";
import { findCachedTarball, findTarball, packTarball, type TarballAddress } from "./npm.ts";
import type { AssetPackage } from "./package.ts";
import { verify } from "./unpack.ts";

export interface TarballSource {
  findCached(wanted: AssetPackage): Promise<string | null>;
  find(wanted: AssetPackage): Promise<TarballAddress>;
  /** Fallback if the registry refuses the download. Puts a tarball into the folder and returns its path. */
  pack(wanted: AssetPackage, folder: string): Promise<string>;
}

export const npmSource: TarballSource = { findCached: findCachedTarball, find: findTarball, pack: packTarball };

function explain(wanted: AssetPackage, error: unknown, next = "resumes where it broke off"): RuntimeFailure {
  const reason = error instanceof Error ? error.message : String(error);
  return new RuntimeFailure(
    `WordPress could not be downloaded (npm package ${wanted.name}@${wanted.version}): ${reason}. ` +
      `Check the network and npm's settings (\`npm ping\`), then start again: the download ${next}.`,
    { cause: error },
  );
}

/** Error for a full disk. The supervisor recognises it by the words "disk is full" and may add advice. */
function explainFull(folder: string, error: unknown): RuntimeFailure {
  return new RuntimeFailure(
    `The disk is full: there is no room left in ${folder}. ` +
      "Make room, then start again: the download resumes where it broke off.",
    { cause: error },
  );
}

async function downloadOrPack(wanted: AssetPackage, file: string, source: TarballSource, progress: Progress) {
  const address = await source.find(wanted);
  try {
    await download(address, file, (done, total) => progress({ phase: "Downloading WordPress", done, total }));
  } catch (error) {
    if (!(error instanceof DownloadRefused)) throw error;
    await rename(await source.pack(wanted, path.dirname(file)), file);
  }
}

/** Returns the path of a verified tarball below `folder`. Rejects with `RuntimeFailure`. */
export async function fetchTarball(
  wanted: AssetPackage,
  folder: string,
  source: TarballSource,
  progress: Progress,
): Promise<string> {
  const file = path.join(folder, `${wanted.name}-${wanted.version}.tar.gz`);
  await mkdir(folder, { recursive: true });
  if ((await exists(file)) && (await verify(file, wanted.integrity))) return file;
  const cached = await source.findCached(wanted);
  if (cached !== null) {
    await copyFile(cached, file);
    if (await verify(file, wanted.integrity)) return file;
  }
  try {
    await downloadOrPack(wanted, file, source, progress);
    progress({ phase: "Verifying the download", done: 0, total: null });
    if (await verify(file, wanted.integrity)) return file;
  } catch (error) {
    throw isDiskFull(error) ? explainFull(folder, error) : explain(wanted, error);
  }
  await rm(file, { force: true });
  throw explain(wanted, new Error("the downloaded file is damaged (its hash does not match)"), "starts from scratch");
}
