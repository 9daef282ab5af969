/**
 * Archives as files below one folder: `<environment>/<archive>.tar.zst`. Written beside, synced and renamed, so that
 * a file under its name is whole.
 */
import { createWriteStream } from "node:fs";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress } from "node:zlib";
import type { Archives } from "./archives.ts";
import { tarOf } from "./tarball.ts";

const namePattern = /^[0-9A-Za-z-]+\/[0-9A-Za-z-]+$/;

/** Most of a site is pictures, which get no smaller: a site waits for its backup, so it is made in half the time. */
const quickly = { chunkSize: 2 << 20, params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** Much may wait to be written, so that compressing goes on while the disk is busy. */
const aheadBytes = 4 << 20;

/** Nobody but us may read it: it holds databases. */
const ownerOnly = 0o700;

export function openFolderArchives(root: string): Archives {
  const placeOf = (name: string) => {
    if (!namePattern.test(name)) throw new Error(`Not the name of an archive: ${name}`);
    return join(root, `${name}.tar.zst`);
  };
  const workOf = (name: string) => `${placeOf(name)}.work`;

  return {
    put: async (name, folder, signal) => {
      const place = placeOf(name);
      const beside = `${place}.new`;
      await mkdir(dirname(place), { recursive: true, mode: ownerOnly });
      await pipeline(
        tarOf(folder),
        createZstdCompress(quickly),
        createWriteStream(beside, { mode: 0o600, flush: true, highWaterMark: aheadBytes }),
        { signal },
      );
      await rename(beside, place);
      await syncFolder(dirname(place));
      return (await stat(place)).size;
    },
    remove: async (name) => {
      for (const file of [placeOf(name), `${placeOf(name)}.new`]) await rm(file, { force: true });
    },
    removeAll: (environmentId) => rm(dirname(placeOf(`${environmentId}/x`)), { recursive: true, force: true }),
    workFolder: async (name) => {
      await rm(workOf(name), { recursive: true, force: true });
      await mkdir(dirname(workOf(name)), { recursive: true, mode: ownerOnly });
      return workOf(name);
    },
    removeWorkFolder: (name) => rm(workOf(name), { recursive: true, force: true }),
  };
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
