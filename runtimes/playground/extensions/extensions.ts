/** PHP's extension intl for each PHP version, and its data, in a folder of the asset store that all workers mount. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { withLock } from "../../assets/lock.ts";
import { makeReadable } from "../../assets/unpack.ts";
import { buildAtomically, exists } from "../../folders.ts";
import { extensionFileOf, icuDataFile } from "../php/build.ts";
import { phpVersions } from "../php/versions.ts";
import { extensionsFolder } from "./extensionsFolder.ts";
import { splitIcuData } from "./icuData.ts";
import { removeUnusedExports } from "./sideModule.ts";

/** Files that are written at the same time. */
const batch = 64;

async function writeData(folder: string): Promise<void> {
  const files = splitIcuData(await readFile(icuDataFile()));
  const folders = new Set(files.map(({ name }) => path.dirname(name)));
  for (const name of folders) await mkdir(path.join(folder, name), { recursive: true });
  for (let start = 0; start < files.length; start += batch) {
    const writes = files
      .slice(start, start + batch)
      .map(({ name, content }) => writeFile(path.join(folder, name), content, { flush: true }));
    await Promise.all(writes);
  }
}

async function assemble(folder: string): Promise<void> {
  await writeData(folder);
  for (const version of phpVersions) {
    const extension = removeUnusedExports(await readFile(extensionFileOf(version, "intl")));
    await mkdir(path.join(folder, version));
    await writeFile(path.join(folder, version, "intl.so"), extension, { flush: true });
  }
  await makeReadable(folder);
}

/** Creates `extensionsFolder(assets)` unless it exists. Safe in several processes at once. */
export async function assembleExtensions(assets: string): Promise<void> {
  const folder = extensionsFolder(assets);
  if (await exists(folder)) return;
  await withLock(`${folder}.lock`, () => buildAtomically(folder, `${folder}.new`, assemble));
}
