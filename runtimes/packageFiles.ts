/**
 * Finds the plugins and themes in a web root by their file headers, as WordPress does, without running any of them. The
 * files are untrusted: their content and their number can be anything.
 */
import type { Dirent } from "node:fs";
import { constants, open, readdir } from "node:fs/promises";
import path from "node:path";
import type { InstalledPackage, PackageKind } from "./runtime.ts";

/** A package as found on disk, before the database is read. */
type PackageFile = Omit<InstalledPackage, "isActive" | "isAutoUpdated"> & {
  /** The folder of the parent theme; null for a plugin and for a theme without a parent. */
  readonly parent: string | null;
};

/** How much of a file WordPress searches for headers. */
export const headerBytes = 8_192;
const maxPackages = 1_000;
/** Limit for PHP files that might be a plugin's main file. */
const maxFiles = 5_000;
const maxLength = { name: 200, title: 300, description: 2_000, version: 60 } as const;

const names = {
  plugin: { title: "Plugin Name", description: "Description", version: "Version", updateUri: "Update URI" },
  theme: {
    title: "Theme Name",
    description: "Description",
    version: "Version",
    updateUri: "Update URI",
    parent: "Template",
  },
} as const;

/**
 * Returns the value of a header as WordPress reads it: the first line with the name, without the end of the comment.
 * Empty if there is none.
 */
export function headerField(text: string, name: string): string {
  const line = new RegExp(`^(?:[ \\t]*<\\?php)?[ \\t/*#@]*${name}:(.*)$`, "im").exec(text)?.[1] ?? "";
  const end = line.search(/\*\/|\?>/);
  return (end === -1 ? line : line.slice(0, end)).trim();
}

/** Strips markup and control characters, and truncates. */
function plain(text: string, max: number): string {
  const shown = text
    .replaceAll(/<[^<>]*>/g, "")
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim();
  return shown.slice(0, max);
}

/** Reads the beginning of a file. Empty if it can't be read or is a symbolic link. */
async function beginningOf(file: string): Promise<string> {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
      return buffer.toString("utf8", 0, bytesRead).replaceAll("\r", "\n");
    } finally {
      await handle.close();
    }
  } catch {
    return "";
  }
}

/** Lists a folder, without dot-files. Empty if the folder doesn't exist. */
async function entriesIn(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => !name.startsWith(".") && name.length <= maxLength.name)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function packageIn(root: string, kind: PackageKind, file: string): Promise<PackageFile | null> {
  const isTheme = kind === "theme";
  const text = await beginningOf(path.join(root, isTheme ? path.join(file, "style.css") : file));
  const title = plain(headerField(text, names[kind].title), maxLength.title);
  if (title === "") return null;
  const updateUri = headerField(text, names[kind].updateUri).slice(0, maxLength.description);
  const parent = isTheme ? headerField(text, names.theme.parent).slice(0, maxLength.name) : "";
  return {
    kind,
    name: file.includes("/") ? path.dirname(file) : file.replace(/\.php$/, ""),
    file,
    title,
    description: plain(headerField(text, names[kind].description), maxLength.description),
    version: plain(headerField(text, names[kind].version), maxLength.version),
    updateUri: updateUri === "" ? null : updateUri,
    parent: parent === "" ? null : parent,
  };
}

/** Lists PHP files that might be a plugin's main file. In each folder, the file with the folder's name comes first. */
async function pluginFiles(root: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await entriesIn(root)) {
    if (found.length >= maxFiles) break;
    if (entry.isFile() && entry.name.endsWith(".php")) found.push(entry.name);
    if (!entry.isDirectory()) continue;
    const inside = (await entriesIn(path.join(root, entry.name))).filter(
      (each) => each.isFile() && each.name.endsWith(".php"),
    );
    const isNamesake = ({ name }: Dirent) => name === `${entry.name}.php`;
    found.push(
      ...inside
        .toSorted((a, b) => Number(isNamesake(b)) - Number(isNamesake(a)))
        .map((each) => `${entry.name}/${each.name}`),
    );
  }
  return found.slice(0, maxFiles);
}

async function themeFolders(root: string): Promise<readonly string[]> {
  return (await entriesIn(root)).filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/**
 * Finds all packages, sorted by kind and name. Of several plugins in one folder only the first is listed: they are
 * installed and removed together. `webRoot` is a path without symbolic links.
 */
export async function readPackageFiles(webRoot: string): Promise<readonly PackageFile[]> {
  const found = new Map<string, PackageFile>();
  const places = [
    { kind: "plugin", root: path.join(webRoot, "wp-content", "plugins"), list: pluginFiles },
    { kind: "theme", root: path.join(webRoot, "wp-content", "themes"), list: themeFolders },
  ] as const;
  for (const { kind, root, list } of places) {
    for (const file of await list(root)) {
      if (found.size >= maxPackages) break;
      const name = file.includes("/") ? path.dirname(file) : file;
      if (kind === "plugin" && found.has(`plugin ${name}`)) continue;
      const one = await packageIn(root, kind, file);
      if (one !== null) found.set(`${kind} ${one.name}`, one);
    }
  }
  return [...found.values()];
}

/** Which packages are active or updated automatically, as stored in the database. */
export interface PackageStates {
  /** Plugin files. */
  readonly activePlugins: ReadonlySet<string>;
  /** Theme folders. */
  readonly activeThemes: ReadonlySet<string>;
  readonly autoUpdated: { readonly [Kind in PackageKind]: ReadonlySet<string> };
}

/** Adds the states from the database. A plugin is active if any file in its folder is. */
export function withStates(files: readonly PackageFile[], states: PackageStates): readonly InstalledPackage[] {
  const { activePlugins, activeThemes, autoUpdated } = states;
  const folders = new Set([...activePlugins].map((file) => (file.includes("/") ? path.dirname(file) : file)));
  const themes = new Set(activeThemes);
  for (const { kind, file, parent } of files) {
    if (kind === "theme" && activeThemes.has(file) && parent !== null) themes.add(parent);
  }
  return files.map(({ parent: _, ...one }) => ({
    ...one,
    isActive:
      one.kind === "theme"
        ? themes.has(one.file)
        : folders.has(one.file.includes("/") ? path.dirname(one.file) : one.file),
    isAutoUpdated: autoUpdated[one.kind].has(one.file),
  }));
}

export const noStates: PackageStates = {
  activePlugins: new Set(),
  activeThemes: new Set(),
  autoUpdated: { plugin: new Set(), theme: new Set() },
};
