/**
 * Language packs of a mirror: zips of translation files, in the folders that WordPress.org's own URLs have:
 * `translation/core/<version>/<locale>.zip` and `translation/<plugin or theme>/<slug>/<version>/<locale>.zip`.
 */
import { headerBytes } from "@sitewright/runtimes/packageFiles.ts";
import { compareVersions } from "./versions.ts";
import { readZipHeaders, type ZipPlace } from "./zip.ts";

export interface LanguagePack {
  readonly kind: "core" | "plugin" | "theme";
  /** `default` for WordPress itself, as in WordPress's own lists. */
  readonly slug: string;
  /** The version of the package that it was made for. */
  readonly version: string;
  /** `de_DE`. */
  readonly locale: string;
  /** When a translator last changed it. */
  readonly revised: Date;
  /** Whether `revised` is from the pack itself. Otherwise it is the zip's date. */
  readonly isDated: boolean;
  /** Path in the mirror: `/translation/core/7.1/de_DE.zip`. */
  readonly path: string;
  readonly zip: string;
}

const layout =
  /^translation\/(?:(core)|(?:(plugin|theme)\/([^/]+)))\/([^/]+)\/([a-z]{2,3}(?:_[A-Z]{2})?(?:_[a-z0-9]+)?)\.zip$/;

/** Whether a zip is in the folder of language packs. */
export const isInTranslations = (name: string) => name.startsWith("translation/");

/** Reads a pack, or returns why it is skipped. Rejects with `BadZip`. */
export async function readLanguagePack({ name, zip, updated }: ZipPlace): Promise<LanguagePack | string> {
  const [, isCore, kind, slug = "default", version = "", locale = ""] = layout.exec(name) ?? [];
  if (isCore === undefined && kind === undefined) {
    return `${name}: not a path of a language pack, such as translation/plugin/akismet/5.3/de_DE.zip.`;
  }
  const { beginnings } = await readZipHeaders(zip, (file) => /^[^/]+\.(?:po|mo|l10n\.php)$/.test(file), headerBytes);
  if (beginnings.size === 0) return `${name}: there are no translations directly in it.`;
  const revised = revisionIn(beginnings, isCore === undefined ? `${slug}-${locale}` : locale);
  return {
    kind: kind === "plugin" || kind === "theme" ? kind : "core",
    slug,
    version,
    locale,
    revised: revised ?? updated,
    isDated: revised !== null,
    path: `/${name}`,
    zip,
  };
}

const revisionHeader = /PO-Revision-Date(?::|'\s*=>\s*')\s*(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?)([+-]\d{4})?/i;

/** Parses the date in a header, or returns null. Without an offset it is UTC. */
export function revisionOf(header: string): Date | null {
  const [, date, offset = "+0000"] = revisionHeader.exec(header) ?? [];
  if (date === undefined) return null;
  const parsed = new Date(`${date.replace(" ", "T")}${offset.replace(/(\d\d)$/, ":$1")}`);
  return Number.isNaN(parsed.getTime()) ? null : parsed;
}

/** WordPress compares the date of the main text domain, and prefers `.po` files. */
function revisionIn(beginnings: ReadonlyMap<string, Buffer>, domain: string): Date | null {
  const header = beginnings.get(`${domain}.po`) ?? beginnings.get(`${domain}.l10n.php`);
  return header === undefined ? null : revisionOf(header.toString("utf8"));
}

/**
 * The packs for a version of a package, one per language: made for this version or, if there is none, for the newest
 * earlier one.
 */
export function packsFor(
  packs: readonly LanguagePack[],
  { kind, slug, version }: Pick<LanguagePack, "kind" | "slug" | "version">,
): readonly LanguagePack[] {
  const own = packs.filter((one) => one.kind === kind && one.slug === slug);
  const usable = own.filter((one) => compareVersions(one.version, version) <= 0);
  const newestLast = usable.toSorted((one, other) => compareVersions(one.version, other.version));
  const byLocale = new Map(newestLast.map((one) => [one.locale, one]));
  return [...byLocale.values()].toSorted((one, other) => one.locale.localeCompare(other.locale, "en"));
}

/** What a site has installed of a language: the `PO-Revision-Date`, or empty if the files don't tell. */
export type InstalledRevisions = ReadonlyMap<string, string>;

/** The packs that a site should get: of languages that it uses but has no files of, and newer ones. */
export function newPacks(
  packs: readonly LanguagePack[],
  locales: ReadonlySet<string>,
  installed: InstalledRevisions,
): readonly LanguagePack[] {
  return packs.filter(({ locale, revised, isDated }) => {
    const present = installed.get(locale);
    if (present === undefined) return locales.has(locale);
    const before = revisionOf(`PO-Revision-Date: ${present}`);
    // Files without a date stay without one after each update, unless the pack brings one.
    return before === null ? isDated : revised > before;
  });
}
