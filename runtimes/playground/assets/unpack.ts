/** From a verified tarball to folders of the asset store. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { Parser } from "tar";
import type { AssetPackage } from "./package.ts";

/** Whether the file has exactly the content that the integrity names. */
export async function verify(file: string, integrity: string): Promise<boolean> {
  const hash = createHash("sha512");
  await pipeline(createReadStream(file), hash);
  return `sha512-${hash.digest("base64")}` === integrity;
}

/** Where an entry of the tarball goes below the store; null if it is not wanted. */
export function placeOf(entry: string, parts: AssetPackage["parts"]): string | null {
  if (entry.split("/").includes("..")) return null;
  for (const [from, to] of Object.entries(parts)) {
    if (entry === from) return to;
    if (entry.startsWith(`${from}/`)) return path.join(to, entry.slice(from.length + 1));
  }
  return null;
}

/**
 * A time of modification that follows from the content. PHP's opcode cache tells versions of a file by this
 * time, and a tarball has the same one for all its files: two versions of a theme would be one to it. With
 * times made from content, equal path and time mean equal content, in every environment and every version.
 */
export function timeOf(content: Buffer): Date {
  const start = Date.UTC(1990, 0, 1) / 1000;
  return new Date((start + (createHash("sha256").update(content).digest().readUInt32BE(0) >>> 2)) * 1000);
}

async function place(file: string, content: Buffer): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content, { flush: true });
  const time = timeOf(content);
  await utimes(file, time, time);
}

/** Unpacks the wanted parts into `folder`, which should be empty. `onFile` is told how many there are so far. */
export async function unpack(
  tarball: string,
  parts: AssetPackage["parts"],
  folder: string,
  onFile: (done: number) => void,
): Promise<void> {
  let done = 0;
  const placed: Promise<void>[] = [];
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      const target = entry.type === "File" ? placeOf(entry.path, parts) : null;
      if (target === null) {
        entry.resume();
        return;
      }
      const whole = entry.concat().then(async (content) => {
        await place(path.join(folder, target), content);
        done += 1;
        onFile(done);
      });
      // Handled below; until then an unhandled rejection would end the process.
      whole.catch(() => undefined);
      placed.push(whole);
    },
  });
  const ended = new Promise((resolve, reject) => parser.on("end", resolve).on("error", reject));
  for await (const chunk of createReadStream(tarball, { highWaterMark: 1 << 20 })) {
    if (!parser.write(chunk)) await new Promise((resolve) => parser.once("drain", resolve));
  }
  parser.end();
  await ended;
  await Promise.all(placed);
  await openToAll(folder);
}

/** Workers run as other users than the one who unpacks, whose own mask must not shut them out. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    await chmod(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o444);
  }
}
