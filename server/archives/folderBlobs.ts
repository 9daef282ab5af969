/** Blobs as files below one folder. Written beside, synced and renamed: a file under its name is whole. */
import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { BlobMissing, type Blobs, checkBlobName } from "./blobs.ts";
import { isAbsent, makeLastingFolder, syncFolder } from "./folders.ts";

export function openFolderBlobs(root: string): Blobs {
  const placeOf = (name: string) => {
    checkBlobName(name);
    return join(root, name);
  };

  return {
    put: async (name, content, signal) => {
      const place = placeOf(name);
      const beside = `${place}.new`;
      try {
        await makeLastingFolder(dirname(place));
        await writeSynced(beside, content, signal);
        await rename(beside, place);
        await syncFolder(dirname(place));
      } catch (error) {
        await rm(beside, { force: true }).catch(() => undefined);
        throw error;
      }
    },
    read: async (name, start, length, signal, memory = Buffer.allocUnsafe(length)) => {
      signal.throwIfAborted();
      const handle = await open(placeOf(name), "r").catch((cause: unknown) => {
        throw isAbsent(cause) ? new BlobMissing(name, { cause }) : cause;
      });
      try {
        const { bytesRead } = await handle.read(memory, 0, length, start);
        if (bytesRead < length) throw new BlobMissing(name);
        return memory.subarray(0, length);
      } catch (cause) {
        // The disk can't give it back: it is as good as gone.
        throw codeOf(cause) === "EIO" ? new BlobMissing(name, { cause }) : cause;
      } finally {
        await handle.close();
      }
    },
    list: async (folder) => {
      const place = placeOf(folder);
      const entries = await readdir(place, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
        if (isAbsent(error)) return [];
        throw error;
      });
      const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith(".new"));
      const sizes = files.map(async ({ parentPath, name }) => {
        const file = join(parentPath, name);
        // Files that are removed meanwhile are absent; files that can't be examined are unknown.
        const facts = await stat(file).catch((error: unknown) => {
          if (isAbsent(error)) return null;
          throw error;
        });
        return facts === null ? [] : [[relative(root, file), facts.size] as const];
      });
      return new Map((await Promise.all(sizes)).flat());
    },
    remove: async (name) => {
      for (const place of [placeOf(name), `${placeOf(name)}.new`]) await rm(place, { force: true });
    },
  };
}

async function writeSynced(file: string, content: Buffer, signal: AbortSignal): Promise<void> {
  // What a killed process has left there is written over.
  const handle = await open(file, "w", 0o600);
  try {
    await handle.writeFile(content, { signal });
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
