/** The content of a fake release: a few small files, a database as JSON, and the specification it was created from. */
import { copyFile, cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { firstRelease, type Part, partOf, type Release, writeRecord } from "../releases.ts";
import {
  type AddressChange,
  type CloneSpec,
  type NewWordPress,
  type ProvisionSpec,
  RuntimeFailure,
  type WordPressFacts,
} from "../runtime.ts";
import { isOwnerFile } from "../wordpressFiles.ts";
import { changeAddresses, incomingTables, newTables, readTables, writeTables } from "./database.ts";

const sharedFolders = ["wp-admin", "wp-includes"];

/** In the web root: the WordPress version, if it is not the initial one. */
const versionFile = "wp-version.txt";

/** Returns the WordPress version, or null if there is no WordPress. */
export async function versionOf(release: Release): Promise<string | null> {
  const { wordpress } = await specOf(release);
  if (wordpress === null) return null;
  return readFile(path.join(await partOf(release, "public"), versionFile), "utf8").catch(() => "7.1.1");
}

/** Changes the WordPress version of a release that has its own files. */
export async function fillVersion(release: Release, { version, folder }: NewWordPress): Promise<void> {
  if ((await versionOf(release)) === null) throw new RuntimeFailure("The new release has no WordPress.");
  const webRoot = await partOf(release, "public");
  const entries = await readdir(folder, { withFileTypes: true });
  for (const { name } of entries.filter((entry) => entry.isFile() && !isOwnerFile(entry.name))) {
    await copyFile(path.join(folder, name), path.join(webRoot, name));
  }
  await writeFile(path.join(webRoot, versionFile), version);
}

export function sharedFoldersOf({ wordpress }: ProvisionSpec): readonly string[] {
  return wordpress === null ? [] : sharedFolders;
}

function isSpec(value: unknown): value is ProvisionSpec {
  return typeof value === "object" && value !== null && "environment" in value && "wordpress" in value;
}

/** Reads the specification of a fake release, or null if there is none. */
export async function readSpec(file: string): Promise<ProvisionSpec | null> {
  const text = await readFile(file, "utf8").catch(() => null);
  const parsed: unknown = text === null ? null : JSON.parse(text);
  return isSpec(parsed) ? parsed : null;
}

export async function specOf(release: Release): Promise<ProvisionSpec> {
  const spec = await readSpec(path.join(release.folder, "spec.json"));
  if (spec === null) throw new Error(`The release in ${release.folder} is damaged.`);
  return spec;
}

/** Returns facts about the WordPress, or null if there is none. */
export async function factsOf(release: Release): Promise<WordPressFacts | null> {
  const { wordpress } = await specOf(release);
  if (wordpress === null) return null;
  const { title, adminUser, adminEmail, locale, multisite } = wordpress;
  return { title, adminUser, adminEmail, locale, multisite };
}

export async function writeSpec(
  folder: string,
  spec: ProvisionSpec,
  addresses: readonly AddressChange[],
): Promise<void> {
  const file = path.join(folder, "spec.json");
  await writeFile(`${file}.new`, changeAddresses(JSON.stringify(spec), addresses));
  await rename(`${file}.new`, file);
}

/** Fills the first release of a new environment. */
export async function fillNew(spec: ProvisionSpec, folder: string): Promise<void> {
  for (const name of ["database", "public", ...sharedFoldersOf(spec).map((shared) => `public/${shared}`)]) {
    await mkdir(path.join(folder, name));
  }
  await writeFile(path.join(folder, "public", "index.php"), "<?php\n");
  await writeTables(path.join(folder, "database"), newTables(spec));
  await writeSpec(folder, spec, []);
  await writeRecord(folder, firstRelease);
}

/** Sets the administrator's password. Does nothing if there is one already, or no WordPress. */
export async function fillPassword(release: Release, adminPasswordDigest: string): Promise<void> {
  const { wordpress, ...spec } = await specOf(release);
  if (wordpress === null || wordpress.adminPasswordDigest !== null) return;
  await writeSpec(release.folder, { ...spec, wordpress: { ...wordpress, adminPasswordDigest } }, []);
}

export async function copyPart(part: Part, from: Release, folder: string): Promise<void> {
  await cp(await partOf(from, part), path.join(folder, part), { recursive: true });
}

/** Fills the first release of a copy: the source's parts and title, with other addresses. */
export async function fillCopy(
  source: Release,
  { environment, addresses }: Pick<CloneSpec, "environment" | "addresses">,
  folder: string,
): Promise<void> {
  await copyPart("public", source, folder);
  await mkdir(path.join(folder, "database"));
  const tables = await readTables(await partOf(source, "database"));
  await writeTables(path.join(folder, "database"), incomingTables(tables, null, addresses));
  await writeSpec(folder, { ...(await specOf(source)), environment }, addresses);
  await writeRecord(folder, firstRelease);
}
