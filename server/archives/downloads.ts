/** Zips to download: one file each, in a folder of their own. */
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent, makeLastingFolder, syncFolder } from "./folders.ts";
import { writeZip, type Zip } from "./zip.ts";

export interface OpenDownload {
  /** To be closed by the caller. */
  readonly handle: FileHandle;
  readonly bytes: number;
}

export interface Downloads {
  /** Whole or not at all; in the place of an earlier one. Returns how long it is. */
  write(id: string, zip: Zip, signal: AbortSignal): Promise<number>;
  /** Null if there is none. */
  open(id: string): Promise<OpenDownload | null>;
  /** Tolerates that there is none. */
  remove(id: string): Promise<void>;
  /** Ids of those that are there, also of what a killed process has left of one. */
  list(): Promise<readonly string[]>;
}

export function openDownloads(folder: string): Downloads {
  const placeOf = (id: string) => {
    if (!/^[0-9a-f-]{36}$/.test(id)) throw new Error(`Not an id: ${id}`);
    return join(folder, `${id}.zip`);
  };
  const openZip = async (id: string) => {
    const handle = await open(placeOf(id), "r").catch((error: unknown) => {
      if (isAbsent(error)) return null;
      throw error;
    });
    return handle === null ? null : { handle, bytes: (await handle.stat()).size };
  };
  const remove = async (id: string) => {
    for (const place of [placeOf(id), `${placeOf(id)}.new`]) await rm(place, { force: true });
  };

  return {
    write: async (id, zip, signal) => {
      const place = placeOf(id);
      await makeLastingFolder(folder);
      await rm(`${place}.new`, { force: true });
      try {
        await writeZip(zip, `${place}.new`, signal);
        await rename(`${place}.new`, place);
      } catch (error) {
        await rm(`${place}.new`, { force: true });
        throw error;
      }
      await syncFolder(folder);
      const written = await openZip(id);
      if (written === null) throw new Error("The zip vanished when it had been written");
      await written.handle.close();
      return written.bytes;
    },
    open: openZip,
    remove,
    list: async () => {
      const names = await readdir(folder).catch((error: unknown) => {
        if (isAbsent(error)) return [];
        throw error;
      });
      return [...new Set(names.flatMap((name) => /^([0-9a-f-]{36})\.zip(?:\.new)?$/.exec(name)?.slice(1) ?? []))];
    },
  };
}
