/**
 * Templates: a pristine WordPress for each language and kind of network, installed once by WordPress itself and then
 * copied. A template is complete exactly if its description exists.
 */
import { chmod, cp, mkdir, readdir, readFile, rename, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { withLock } from "../../assets/lock.ts";
import type { AssetFiles, AssetStore } from "../../assets/store.ts";
import { timeOf } from "../../assets/unpack.ts";
import { exists, removeTree, syncFolder } from "../../folders.ts";
import { runJob } from "../../job.ts";
import { siteFolder } from "../../phpFolders.ts";
import { sharedFolders } from "../../site/sharedCode.ts";
import type { Template, TemplateKind, TemplateStore } from "../../site/template.ts";
import { placeholders } from "../../site/values/placeholders.ts";
import { wpConfig } from "../../site/wpConfig.ts";
import { databaseFile } from "../../sqlite/databaseFiles.ts";
import { assembleDriver, driverFolder, driverPlace } from "../../sqlite/driver.ts";
import { findPlaceholdersInFile } from "../../sqlite/findPlaceholders.ts";
import { sqliteDatabase } from "../../sqlite/sqliteDatabase.ts";
import { assembleExtensions } from "../extensions/extensions.ts";
import { descriptionOf, templateFolder } from "./folder.ts";
import type { InstallJob } from "./install.ts";

const installSeconds = 120;
export const templatePhpVersion = "8.3";

function isTemplate(value: unknown): value is Pick<Template, "places" | "wordpressVersion"> {
  return typeof value === "object" && value !== null && "places" in value && "wordpressVersion" in value;
}

/** Whether a file of the languages folder belongs to this locale, and not to a locale whose name contains it. */
export function belongsToLocale(name: string, locale: string): boolean {
  return name.startsWith(`${locale}.`) || name.startsWith(`${locale}-`) || name.includes(`-${locale}.`);
}

async function copyLanguages(files: AssetFiles, locale: string, target: string): Promise<void> {
  if (locale === "en_US") return;
  for (const entry of await readdir(files.languages, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !isOfLocale(entry.name, locale)) continue;
    const source = path.join(entry.parentPath, entry.name);
    const copy = path.join(target, path.relative(files.languages, source));
    await mkdir(path.dirname(copy), { recursive: true });
    await cp(source, copy, { preserveTimestamps: true });
  }
}

function isOfLocale(name: string, locale: string): boolean {
  return belongsToLocale(name, locale) || name.includes(`-${locale}-`);
}

async function writeDropIn(files: AssetFiles, content: string): Promise<void> {
  const source = await readFile(path.join(files.sqliteDriver, "db.copy"), "utf8");
  const text = source
    .replaceAll("{SQLITE_IMPLEMENTATION_FOLDER_PATH}", `${siteFolder}/${driverPlace}`)
    .replaceAll("{SQLITE_PLUGIN}", "sqlite-database-integration/load.php");
  const file = path.join(content, "db.php");
  await writeFile(file, text);
  const time = timeOf(Buffer.from(text));
  await utimes(file, time, time);
}

/** Creates the files that an environment owns: WordPress as published, the drop-in for SQLite, and one language. */
async function layOut(files: AssetFiles, kind: TemplateKind, folder: string): Promise<void> {
  const root = path.join(folder, "public");
  const content = path.join(root, "wp-content");
  const mounts = [...sharedFolders, driverPlace].map((shared) => `public/${shared}`);
  for (const name of ["database", "sessions", ...mounts]) {
    await mkdir(path.join(folder, name), { recursive: true });
  }
  for (const entry of await readdir(files.core)) {
    if (sharedFolders.some((shared) => shared === entry)) continue;
    await cp(path.join(files.core, entry), path.join(root, entry), { recursive: true, preserveTimestamps: true });
  }
  await writeDropIn(files, content);
  await copyLanguages(files, kind.locale, path.join(content, "languages"));
  await makeWritable(root);
  await writeFile(
    path.join(root, "wp-config.php"),
    wpConfig({ address: placeholders.address, multisite: null }, sqliteDatabase.constants),
  );
}

/** Makes the files writable: the asset store's are read-only. */
async function makeWritable(root: string): Promise<void> {
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    await chmod(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  }
}

async function build(files: AssetFiles, driver: string, kind: TemplateKind, folder: string): Promise<void> {
  const temporary = `${folder}.new`;
  await removeTree(temporary);
  await layOut(files, kind, temporary);
  const job: InstallJob = {
    folders: {
      documentRoot: path.join(temporary, "public"),
      shared: { core: files.core, driver },
      database: path.join(temporary, "database"),
      sessions: path.join(temporary, "sessions"),
      temporary: path.join(temporary, "temporary"),
    },
    phpVersion: templatePhpVersion,
    ...kind,
  };
  await runJob(new URL("./install.ts", import.meta.url), job, { deadlineSeconds: installSeconds });
  const places = findPlaceholdersInFile(path.join(temporary, "database", databaseFile));
  const description = JSON.stringify({ wordpressVersion: files.wordpressVersion, places });
  await writeFile(descriptionOf(temporary), description, { flush: true });
  await removeTree(folder);
  await rename(temporary, folder);
  await syncFolder(path.dirname(folder));
}

export function createTemplateStore(assets: AssetStore): TemplateStore {
  const known = new Map<string, Promise<Template>>();

  async function make(kind: TemplateKind): Promise<Template> {
    const files = await assets.files();
    await assembleDriver(files, assets.folder);
    await assembleExtensions(assets.folder);
    const folder = templateFolder(assets.folder, files.wordpressVersion, kind);
    const description = descriptionOf(folder);
    if (!(await exists(description))) {
      await withLock(`${folder}.lock`, async () => {
        if (!(await exists(description))) await build(files, driverFolder(assets.folder), kind, folder);
      });
    }
    const parsed: unknown = JSON.parse(await readFile(description, "utf8"));
    if (!isTemplate(parsed)) throw new Error(`${description} is damaged; remove ${folder}.`);
    return { ...parsed, folder };
  }

  return {
    get: (kind) => {
      const key = `${kind.locale}-${kind.multisite ?? "single"}`;
      const found = known.get(key);
      if (found !== undefined) return found;
      const made = make(kind);
      known.set(key, made);
      made.catch(() => known.delete(key));
      return made;
    },
  };
}
