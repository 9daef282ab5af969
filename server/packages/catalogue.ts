/** The packages in a folder of zips. A zip is read again if the file has changed. */
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { headerBytes, headerField } from "@sitewright/runtimes/packageFiles.ts";
import { compareVersions } from "./versions.ts";
import { BadZip, readZipHeaders } from "./zip.ts";

export type CatalogueKind = "plugin" | "theme" | "core";

export interface CataloguedPackage {
  readonly kind: CatalogueKind;
  readonly slug: string;
  readonly version: string;
  /** WordPress's name of a plugin: `akismet/akismet.php`. For other kinds the slug. */
  readonly file: string;
  readonly title: string;
  /** Minimum version of WordPress, or empty. */
  readonly requires: string;
  readonly requiresPhp: string;
  /** Path of the zip. */
  readonly zip: string;
}

interface Catalogue {
  readonly packages: readonly CataloguedPackage[];
  /** Sentences about zips that were skipped. */
  readonly problems: readonly string[];
}

interface CachedZip {
  readonly stamp: string;
  readonly found: CataloguedPackage | string;
}

const coreName = /^wordpress-(\d+(?:\.\d+)+(?:-[A-Za-z0-9.]+)?)\.zip$/;

async function readZip(zip: string): Promise<CataloguedPackage | string> {
  const name = path.basename(zip);
  const isHeader = (file: string) => file === "style.css" || file.endsWith(".php");
  try {
    const { root, beginnings } = await readZipHeaders(zip, isHeader, headerBytes);
    if (root === null) return `${name}: its content is not in a single folder.`;
    const core = coreName.exec(name)?.[1];
    if (root === "wordpress" && core !== undefined) {
      return {
        kind: "core",
        slug: root,
        version: core,
        file: root,
        title: "WordPress",
        requires: "",
        requiresPhp: "",
        zip,
      };
    }
    return packageIn(zip, root, beginnings) ?? `${name}: neither a plugin nor a theme, or without a version.`;
  } catch (error) {
    if (error instanceof BadZip) return `${name}: ${error.message}`;
    throw error;
  }
}

/** Null if no file has the header of a plugin or theme. */
function packageIn(zip: string, root: string, beginnings: ReadonlyMap<string, Buffer>): CataloguedPackage | null {
  for (const [name, bytes] of [...beginnings].toSorted(([one], [other]) =>
    one === `${root}.php` ? -1 : Number(other === `${root}.php`),
  )) {
    const kind = name === "style.css" ? "theme" : "plugin";
    const text = bytes.toString("utf8").replaceAll("\r", "\n");
    const field = (of: string) => headerField(text, of).slice(0, 200);
    const [title, version] = [field(kind === "theme" ? "Theme Name" : "Plugin Name"), field("Version")];
    if (title === "" || version === "") continue;
    const file = kind === "theme" ? root : `${root}/${name}`;
    const needs = { requires: field("Requires at least"), requiresPhp: field("Requires PHP") };
    return { kind, slug: root, version, file, title, ...needs, zip };
  }
  return null;
}

/** Returns a function that lists the folder's current packages. */
export function openCatalogue(folder: string): () => Promise<Catalogue> {
  let cached = new Map<string, CachedZip>();
  return async () => {
    const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".zip")).toSorted();
    const next = new Map<string, CachedZip>();
    for (const name of names) {
      const zip = path.join(folder, name);
      const facts = await stat(zip).catch(() => null);
      if (!facts?.isFile()) continue;
      const stamp = [facts.ino, facts.size, facts.mtimeMs].join();
      const before = cached.get(zip);
      next.set(zip, before?.stamp === stamp ? before : { stamp, found: await readZip(zip) });
    }
    cached = next;
    const all = [...next.values()].map(({ found }) => found);
    return {
      packages: all.filter((each) => typeof each !== "string"),
      problems: all.filter((each) => typeof each === "string"),
    };
  };
}

/** The package with the newest version, or null if there are none. */
export function newestOf(packages: readonly CataloguedPackage[]): CataloguedPackage | null {
  return packages.toSorted((one, other) => compareVersions(other.version, one.version))[0] ?? null;
}
