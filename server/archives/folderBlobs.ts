/** Blobs as files in a folder. They are written to temporary files, synced and renamed, so a blob is always complete. */
import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { syncFolder } from "../durableFile.ts";
import { BlobMissing, type Blobs, checkBlobName } from "./blobs.ts";
import { isAbsent, makeLastingFolder } from "./folders.ts";

export function openFolderBlobs(root: string): Blobs {
  const fileOf = (name: string) => {
    checkBlobName(name);
    return join(root, name);
  };

  return {
    put: async (name, content, signal) => {
      const file = fileOf(name);
      const temporary = `${file}.new`;
      try {
        await makeLastingFolder(dirname(file));
        await writeSynced(temporary, content, signal);
        await rename(temporary, file);
        await syncFolder(dirname(file));
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined);
        throw error;
      }
    },
    read: async (name, start, length, signal, memory = Buffer.allocUnsafe(length)) => {
      signal.throwIfAborted();
      const handle = await open(fileOf(name), "r").catch((cause: unknown) => {
        throw isAbsent(cause) ? new BlobMissing(name, { cause }) : cause;
      });
      try {
        const { bytesRead } = await handle.read(memory, 0, length, start);
        if (bytesRead < length) throw new BlobMissing(name);
        return memory.subarray(0, length);
      } catch (cause) {
        // The disk can't read it: treat it as lost.
        throw codeOf(cause) === "EIO" ? new BlobMissing(name, { cause }) : cause;
      } finally {
        await handle.close();
      }
    },
    list: async (folder) => {
      const entries = await readdir(fileOf(folder), { recursive: true, withFileTypes: true }).catch(
        (error: unknown) => {
          if (isAbsent(error)) return [];
          throw error;
        },
      );
      const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith(".new"));
      const sizes = files.map(async ({ parentPath, name }) => {
        const file = join(parentPath, name);
        // A file that was removed in the meantime is left out; any other error must not look like an absence.
        const facts = await stat(file).catch((error: unknown) => {
          if (isAbsent(error)) return null;
          throw error;
        });
        return facts === null ? [] : [[relative(root, file), facts.size] as const];
      });
      return new Map((await Promise.all(sizes)).flat());
    },
    remove: async (name) => {
      for (const file of [fileOf(name), `${fileOf(name)}.new`]) await rm(file, { force: true });
    },
  };
}

async function writeSynced(file: string, content: Buffer, signal: AbortSignal): Promise<void> {
  // Overwrites what a killed process has left.
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
