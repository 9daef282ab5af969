/**
 * The files of the data folder that a backup of the installation contains: the keys, the facts of the first run, and the
 * newest hashes of the activity log.
 */
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isTemporaryName, writeDurableFile } from "../durableFile.ts";
import { UnusableFile } from "./envelope.ts";

const secrets = "secrets";
/** Files that may be missing. */
const others = ["first-run.json", "activity-heads.json"];
const secretName = /^[0-9A-Za-z][0-9A-Za-z._-]*$/;

/** Content in base64, by path below the data folder. */
type DataFolderFiles = Readonly<Record<string, string>>;

export async function readDataFolderFiles(data: string): Promise<DataFolderFiles> {
  const names = await readdir(join(data, secrets)).catch(() => []);
  const keys = names
    .filter((name) => secretName.test(name) && !isTemporaryName(name))
    .map((name) => `${secrets}/${name}`);
  const found = await Promise.all(
    [...keys, ...others].map(async (path) => {
      const content = await readFile(join(data, path), "base64").catch((error: NodeJS.ErrnoException) => {
        if (others.includes(path) && error.code === "ENOENT") return null;
        throw error;
      });
      return content === null ? [] : [[path, content] as const];
    }),
  );
  return Object.fromEntries(found.flat());
}

/** Writes the files, readable by the owner only. Rejects with `UnusableFile` if one has an unexpected path. */
export async function writeDataFolderFiles(data: string, files: DataFolderFiles): Promise<void> {
  for (const path of Object.keys(files)) {
    const [folder, name = "", ...deeper] = path.split("/");
    const isKey = folder === secrets && secretName.test(name) && deeper.length === 0;
    if (!isKey && !others.includes(path))
      throw new UnusableFile(`The backup has a file with an unexpected path: ${path}.`);
  }
  for (const [path, content] of Object.entries(files)) {
    await writeDurableFile(join(data, path), Buffer.from(content, "base64"));
  }
}

/** Undoes `writeDataFolderFiles` in a data folder that had none of these files before. */
export async function removeDataFolderFiles(data: string): Promise<void> {
  for (const path of [secrets, ...others]) await rm(join(data, path), { recursive: true, force: true });
}
