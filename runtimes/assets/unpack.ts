/** Unpacks a verified tarball into folders of the asset store. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { Parser } from "tar";
import type { AssetPackage } from "./package.ts";

/** Whether the file's hash matches `integrity`. */
export async function verify(file: string, integrity: string): Promise<boolean> {
  const hash = createHash("sha512");
  await pipeline(createReadStream(file), hash);
  return `sha512-${hash.digest("base64")}` === integrity;
}

/** Returns the path below the store for an entry of the tarball, or null if the entry is not wanted. */
export function targetOf(entry: string, parts: AssetPackage["parts"]): string | null {
  if (entry.split("/").includes("..")) return null;
  for (const [from, to] of Object.entries(parts)) {
    if (entry === from) return to;
    if (entry.startsWith(`${from}/`)) return path.join(to, entry.slice(from.length + 1));
  }
  return null;
}

/**
 * Derives a modification time from the content. PHP's opcode cache recognises a changed file by this time, and all
 * files in a tarball have the same one: two versions of a theme would look identical. With these times, equal path and
 * time mean equal content, in every environment and version.
 */
export function timeOf(content: Buffer): Date {
  const start = Date.UTC(1990, 0, 1) / 1000;
  return new Date((start + (createHash("sha256").update(content).digest().readUInt32BE(0) >>> 2)) * 1000);
}

async function writeAsset(file: string, content: Buffer): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content, { flush: true });
  const time = timeOf(content);
  await utimes(file, time, time);
}

/** Unpacks the wanted parts into `folder`, which should be empty. `onFile` gets the number of files so far. */
export async function unpack(
  tarball: string,
  parts: AssetPackage["parts"],
  folder: string,
  onFile: (done: number) => void,
): Promise<void> {
  let done = 0;
  const writes: Promise<void>[] = [];
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      const target = entry.type === "File" ? targetOf(entry.path, parts) : null;
      if (target === null) {
        entry.resume();
        return;
      }
      const write = entry.concat().then(async (content) => {
        await writeAsset(path.join(folder, target), content);
        done += 1;
        onFile(done);
      });
      // Handled below. Without this, an unhandled rejection would end the process before that.
      write.catch(() => undefined);
      writes.push(write);
    },
  });
  const ended = new Promise((resolve, reject) => parser.on("end", resolve).on("error", reject));
  for await (const chunk of createReadStream(tarball, { highWaterMark: 1 << 20 })) {
    if (!parser.write(chunk)) await new Promise((resolve) => parser.once("drain", resolve));
  }
  parser.end();
  await ended;
  await Promise.all(writes);
  await makeReadable(folder);
}

/** Makes the files readable to all: workers run as other users, and the umask of this process may be restrictive. */
export async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    await chmod(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o444);
  }
}
