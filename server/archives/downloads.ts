/** Stores downloadable backups as zips in a folder. */
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "../durableFile.ts";
import { isAbsent, makeLastingFolder } from "./folders.ts";
import { writeZip, type Zip } from "./zip.ts";

export interface OpenDownload {
  /** Must be closed by the caller. */
  readonly handle: FileHandle;
  readonly bytes: number;
}

export interface Downloads {
  /** Writes a zip atomically, replacing an earlier one. Returns its size. */
  write(id: string, zip: Zip, signal: AbortSignal): Promise<number>;
  /** Returns null if there is no such zip. */
  open(id: string): Promise<OpenDownload | null>;
  /** Does nothing if there is no such zip. */
  remove(id: string): Promise<void>;
  /** Ids of all zips, including unfinished ones of killed processes. */
  list(): Promise<readonly string[]>;
}

export function openDownloads(folder: string): Downloads {
  const fileOf = (id: string) => {
    if (!/^[0-9a-f-]{36}$/.test(id)) throw new Error(`Invalid id: ${id}`);
    return join(folder, `${id}.zip`);
  };
  const openZip = async (id: string) => {
    const handle = await open(fileOf(id), "r").catch((error: unknown) => {
      if (isAbsent(error)) return null;
      throw error;
    });
    return handle === null ? null : { handle, bytes: (await handle.stat()).size };
  };
  const remove = async (id: string) => {
    for (const file of [fileOf(id), `${fileOf(id)}.new`]) await rm(file, { force: true });
  };

  return {
    write: async (id, zip, signal) => {
      const file = fileOf(id);
      await makeLastingFolder(folder);
      await rm(`${file}.new`, { force: true });
      try {
        await writeZip(zip, `${file}.new`, signal);
        await rename(`${file}.new`, file);
      } catch (error) {
        await rm(`${file}.new`, { force: true });
        throw error;
      }
      await syncFolder(folder);
      const written = await openZip(id);
      if (written === null) throw new Error("The zip vanished after it was written");
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
