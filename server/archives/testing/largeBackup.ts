/**
 * A process that backs up a folder with one file of the given number of megabytes, restores it, and sends its peak memory in
 * megabytes over IPC. Fails if the restored file differs.
 */

import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fixedKeys } from "../../keyFile.ts";
import { openArchives } from "../archives.ts";
import { openFolderBlobs } from "../folderBlobs.ts";
import { createMemoryIndex } from "./memoryIndex.ts";

const megabyte = 1 << 20;
const megabytes = Number(process.argv[2]);
const { signal } = new AbortController();
const root = await mkdtemp(join(tmpdir(), "swlarge-"));

async function write(file: string): Promise<void> {
  const handle = await open(file, "w");
  for (let count = 0; count < megabytes; count += 1) await handle.write(randomBytes(megabyte));
  await handle.close();
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha1");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

try {
  const index = createMemoryIndex();
  const archives = openArchives({
    blobs: openFolderBlobs(join(root, "archives")),
    keys: fixedKeys(randomBytes(32)),
    indexOf: () => index,
    work: join(root, "work"),
    removeFolder: (folder) => rm(folder, { recursive: true, force: true }),
  });
  const [site, restored] = [join(root, "site"), join(root, "restored")];
  await mkdir(join(site, "database"), { recursive: true });
  await write(join(site, "database", "wordpress.sqlite"));
  const backup = { id: 1, companyId: "company" };
  const kept = { ...backup, ...(await archives.keep(backup, site, null, signal)) };
  await archives.restore(kept, restored, () => true, signal);
  const [before, after] = await Promise.all(
    [site, restored].map((folder) => hashOf(join(folder, "database", "wordpress.sqlite"))),
  );
  if (before !== after) throw new Error("The restored file differs");
  process.send?.(process.resourceUsage().maxRSS / 1024);
} finally {
  await rm(root, { recursive: true });
}
process.disconnect();
