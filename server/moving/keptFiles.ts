/** What a backup of the installation takes along of the data folder: the keys, and the facts of the first run. */
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeDurableFile } from "../durableFile.ts";
import { UnusableFile } from "./envelope.ts";

const secrets = "secrets";
const facts = "first-run.json";
const secretName = /^[0-9A-Za-z][0-9A-Za-z._-]*$/;
/** What a process that was killed while it made a key has left. */
const halfMade = /\.\d+\.[0-9a-f]{12}$/;

/** By path below the data folder, in base64. */
export type KeptFiles = Readonly<Record<string, string>>;

export async function readKeptFiles(data: string): Promise<KeptFiles> {
  const names = await readdir(join(data, secrets)).catch(() => []);
  const keys = names
    .filter((name) => secretName.test(name) && !halfMade.test(name))
    .map((name) => `${secrets}/${name}`);
  const found = await Promise.all(
    [...keys, facts].map(async (path) => {
      const content = await readFile(join(data, path), "base64").catch((error: NodeJS.ErrnoException) => {
        // Its reader may have put it away.
        if (path === facts && error.code === "ENOENT") return null;
        throw error;
      });
      return content === null ? [] : [[path, content] as const];
    }),
  );
  return Object.fromEntries(found.flat());
}

/** For their owner alone. Rejects with `UnusableFile` if one would be in another place than such files are. */
export async function writeKeptFiles(data: string, files: KeptFiles): Promise<void> {
  for (const path of Object.keys(files)) {
    const [folder, name = "", ...deeper] = path.split("/");
    const isKey = folder === secrets && secretName.test(name) && deeper.length === 0;
    if (!isKey && path !== facts) throw new UnusableFile(`The backup has a file that belongs nowhere: ${path}.`);
  }
  for (const [path, content] of Object.entries(files)) {
    await writeDurableFile(join(data, path), Buffer.from(content, "base64"));
  }
}

/** Undoes `writeKeptFiles` in a data folder that had none of them. */
export async function removeKeptFiles(data: string): Promise<void> {
  for (const path of [secrets, facts]) await rm(join(data, path), { recursive: true, force: true });
}
