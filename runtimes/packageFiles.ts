/**
 * Plugins and themes as they lie in a web root, by what stands in the headers of their files. WordPress finds them in the same
 * way; nothing of them is run. Whoever owns the files may have put anything there, in any number.
 */
import type { Dirent } from "node:fs";
import { constants, open, readdir } from "node:fs/promises";
import path from "node:path";
import type { InstalledPackage, PackageKind } from "./runtime.ts";

/** A package before it is known whether it is in use. */
export type PackageFile = Omit<InstalledPackage, "isActive" | "isAutoUpdated"> & {
  /** Folder of the theme that it is a child of; null: of none, or it is a plugin. */
  readonly parent: string | null;
};

/** WordPress reads as much of a file. */
export const headerBytes = 8_192;
const mostPackages = 1_000;
/** Files that may be a plugin's first one. */
const mostFiles = 5_000;
const longest = { name: 200, title: 300, description: 2_000, version: 60 } as const;

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

/** As WordPress reads it: the first line with the name, without what ends a comment; empty if there is none. */
export function headerField(text: string, name: string): string {
  const line = new RegExp(`^(?:[ \\t]*<\\?php)?[ \\t/*#@]*${name}:(.*)$`, "im").exec(text)?.[1] ?? "";
  return line.replace(/\s*(?:\*\/|\?>).*$/, "").trim();
}

/** Markup, and what is no character, is left out. */
function plain(text: string, most: number): string {
  const shown = text
    .replaceAll(/<[^<>]*>/g, "")
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim();
  return shown.slice(0, most);
}

/** The beginning of a file that is no link; empty if it can't be read. */
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

/** Empty if there is no such folder. Dot-files are no plugins. */
async function entriesIn(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => !name.startsWith(".") && name.length <= longest.name)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function packageIn(root: string, kind: PackageKind, file: string): Promise<PackageFile | null> {
  const isTheme = kind === "theme";
  const text = await beginningOf(path.join(root, isTheme ? path.join(file, "style.css") : file));
  const title = plain(headerField(text, names[kind].title), longest.title);
  if (title === "") return null;
  const updateUri = headerField(text, names[kind].updateUri).slice(0, longest.description);
  const parent = isTheme ? headerField(text, names.theme.parent).slice(0, longest.name) : "";
  return {
    kind,
    name: file.includes("/") ? path.dirname(file) : file.replace(/\.php$/, ""),
    file,
    title,
    description: plain(headerField(text, names[kind].description), longest.description),
    version: plain(headerField(text, names[kind].version), longest.version),
    updateUri: updateUri === "" ? null : updateUri,
    parent: parent === "" ? null : parent,
  };
}

/** Files of the folder for plugins that may be the first one of a plugin, the likeliest of each folder first. */
async function pluginFiles(root: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await entriesIn(root)) {
    if (found.length >= mostFiles) break;
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
  return found.slice(0, mostFiles);
}

async function themeFolders(root: string): Promise<readonly string[]> {
  return (await entriesIn(root)).filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/**
 * By kind and name. Of several plugins in one folder the first is meant: they come and go together. `webRoot` is a path
 * without symbolic links.
 */
export async function readPackageFiles(webRoot: string): Promise<readonly PackageFile[]> {
  const found = new Map<string, PackageFile>();
  const places = [
    { kind: "plugin", root: path.join(webRoot, "wp-content", "plugins"), list: pluginFiles },
    { kind: "theme", root: path.join(webRoot, "wp-content", "themes"), list: themeFolders },
  ] as const;
  for (const { kind, root, list } of places) {
    for (const file of await list(root)) {
      if (found.size >= mostPackages) break;
      const name = file.includes("/") ? path.dirname(file) : file;
      if (kind === "plugin" && found.has(`plugin ${name}`)) continue;
      const one = await packageIn(root, kind, file);
      if (one !== null) found.set(`${kind} ${one.name}`, one);
    }
  }
  return [...found.values()];
}

/** What a database says of packages. */
export interface PackageStates {
  /** Files of plugins that are in use. */
  readonly activePlugins: ReadonlySet<string>;
  /** Folders of themes that are in use. */
  readonly activeThemes: ReadonlySet<string>;
  readonly autoUpdated: { readonly [Kind in PackageKind]: ReadonlySet<string> };
}

/** Both together. A plugin is in use where any of the files in its folder is. */
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
