/** The packages and language packs in a folder of zips. A zip is read again if the file has changed. */
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { headerBytes, headerField } from "@sitewright/runtimes/packageFiles.ts";
import { isInTranslations, type LanguagePack, readLanguagePack } from "./languagePacks.ts";
import { compareVersions } from "./versions.ts";
import { BadZip, readZipHeaders, type ZipPlace } from "./zip.ts";

export type CatalogueKind = "plugin" | "theme" | "core";

export interface CataloguedPackage {
  readonly kind: CatalogueKind;
  readonly slug: string;
  readonly version: string;
  /** WordPress's name of a plugin: `akismet/akismet.php`. For other kinds the slug. */
  readonly file: string;
  readonly title: string;
  /** The header's text, like the following ones, or empty. */
  readonly description: string;
  readonly author: string;
  readonly authorUrl: string;
  readonly url: string;
  /** Minimum version of WordPress, or empty. */
  readonly requires: string;
  readonly requiresPhp: string;
  /** The newest version of WordPress that the package was tested with, or empty. */
  readonly tested: string;
  /** Slugs of the plugins that this plugin needs. */
  readonly requiresPlugins: readonly string[];
  /** The folder of a theme's parent; empty if it has none. */
  readonly parent: string;
  /** When the zip was last changed. */
  readonly updated: Date;
  /** Path of the zip. */
  readonly zip: string;
}

interface Catalogue {
  readonly packages: readonly CataloguedPackage[];
  readonly languagePacks: readonly LanguagePack[];
  /** Sentences about zips that were skipped. */
  readonly problems: readonly string[];
}

type Found =
  | { readonly type: "package"; readonly found: CataloguedPackage }
  | { readonly type: "languagePack"; readonly found: LanguagePack }
  | { readonly type: "problem"; readonly found: string };

interface CachedZip {
  readonly stamp: string;
  readonly result: Found;
}

const coreName = /^wordpress-(\d+(?:\.\d+)+(?:-[A-Za-z0-9.]+)?)\.zip$/;
const maxFieldLength = 2_000;

async function readZip(place: ZipPlace): Promise<Found> {
  const problem = (found: string): Found => ({ type: "problem", found });
  try {
    if (isInTranslations(place.name)) {
      const pack = await readLanguagePack(place);
      return typeof pack === "string" ? problem(pack) : { type: "languagePack", found: pack };
    }
    const found = await readPackage(place);
    return typeof found === "string" ? problem(found) : { type: "package", found };
  } catch (error) {
    if (error instanceof BadZip) return problem(`${place.name}: ${error.message}`);
    throw error;
  }
}

/** Whether the file, directly in the root folder, may have headers. */
const mayHaveHeader = (file: string) => /^[^/]+\/(?:style\.css|readme\.txt|[^/]+\.php)$/i.test(file);

async function readPackage(place: ZipPlace): Promise<CataloguedPackage | string> {
  const { root, beginnings } = await readZipHeaders(place.zip, mayHaveHeader, headerBytes);
  if (root === null) return `${place.name}: its content is not in a single folder.`;
  const core = coreName.exec(path.posix.basename(place.name))?.[1];
  if (root === "wordpress" && core !== undefined) return coreIn(place, core);
  const texts = [...beginnings].map(([name, bytes]): readonly [string, string] => [
    name.slice(root.length + 1),
    bytes.toString("utf8").replaceAll("\r", "\n"),
  ]);
  return packageIn(place, root, new Map(texts)) ?? `${place.name}: neither a plugin nor a theme, or without a version.`;
}

function coreIn({ zip, updated }: ZipPlace, version: string): CataloguedPackage {
  const none = { description: "", author: "", authorUrl: "", url: "", requires: "", requiresPhp: "", parent: "" };
  const names = { kind: "core", slug: "wordpress", file: "wordpress", title: "WordPress" } as const;
  return { ...names, ...none, version, tested: "", requiresPlugins: [], updated, zip };
}

/** Null if no file has the header of a plugin or theme. */
function packageIn(place: ZipPlace, root: string, texts: ReadonlyMap<string, string>): CataloguedPackage | null {
  const readme = [...texts].find(([name]) => name.toLowerCase() === "readme.txt")?.[1] ?? "";
  const mainFirst = [...texts].toSorted(([one], [other]) =>
    one === `${root}.php` ? -1 : Number(other === `${root}.php`),
  );
  for (const [name, text] of mainFirst) {
    const kind = name === "style.css" ? "theme" : "plugin";
    const field = (of: string) => headerField(text, of).slice(0, maxFieldLength);
    const [title, version] = [field(kind === "theme" ? "Theme Name" : "Plugin Name"), field("Version")];
    if (title === "" || version === "") continue;
    return {
      kind,
      slug: root,
      version,
      file: kind === "theme" ? root : `${root}/${name}`,
      title,
      description: field("Description"),
      author: field("Author"),
      authorUrl: field("Author URI"),
      url: field(kind === "theme" ? "Theme URI" : "Plugin URI"),
      requires: field("Requires at least") || headerField(readme, "Requires at least"),
      requiresPhp: field("Requires PHP") || headerField(readme, "Requires PHP"),
      tested: field("Tested up to") || headerField(readme, "Tested up to"),
      requiresPlugins: field("Requires Plugins")
        .split(",")
        .map((slug) => slug.trim())
        .filter((slug) => slug !== ""),
      parent: kind === "theme" ? field("Template") : "",
      updated: place.updated,
      zip: place.zip,
    };
  }
  return null;
}

/** Returns a function that lists the folder's current content. */
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
      const place = { name: name.split(path.sep).join("/"), zip, updated: facts.mtime };
      next.set(zip, before?.stamp === stamp ? before : { stamp, result: await readZip(place) });
    }
    cached = next;
    const all = [...next.values()].map(({ result }) => result);
    return {
      packages: all.flatMap(({ type, found }) => (type === "package" ? [found] : [])),
      languagePacks: all.flatMap(({ type, found }) => (type === "languagePack" ? [found] : [])),
      problems: all.flatMap(({ type, found }) => (type === "problem" ? [found] : [])),
    };
  };
}

/** The package with the newest version, or null if there are none. */
export function newestOf(packages: readonly CataloguedPackage[]): CataloguedPackage | null {
  return packages.toSorted((one, other) => compareVersions(other.version, one.version))[0] ?? null;
}
