/**
 * The mirror's answers, with all fields that WordPress and WP-CLI read. Facts that only WordPress.org knows, such as
 * ratings and numbers of installations, are 0.
 */
import { entriesOf, fieldOf } from "@sitewright/runtimes/fields.ts";
import { type CataloguedPackage, newestOf } from "./catalogue.ts";
import { type InstalledRevisions, type LanguagePack, newPacks, packsFor } from "./languagePacks.ts";
import { compareVersions } from "./versions.ts";

export type ExtensionKind = "plugin" | "theme";

/** What the folder has, and the URL of the mirror as the client sees it, without a trailing slash. */
export interface Stock {
  readonly packages: readonly CataloguedPackage[];
  readonly languagePacks: readonly LanguagePack[];
  readonly base: string;
}

/** Path of a package's zip. For plugins and themes these are WordPress.org's own, which WP-CLI composes itself. */
export const zipPath = ({ kind, slug, version }: CataloguedPackage) =>
  kind === "core" ? `/release/wordpress-${version}.zip` : `/${kind}/${slug}.${version}.zip`;

/** Path of the newest version's zip, which WordPress.org calls the development version. */
export const newestZipPath = ({ kind, slug }: CataloguedPackage) => `/${kind}/${slug}.zip`;

/** A picture that every WordPress has, because nothing else can be reached from everywhere. */
const icon = "/wp-includes/images/w-logo-blue.png";

/** `2026-01-31 12:00:00`, UTC. */
const dateTime = (date: Date) => date.toISOString().slice(0, 19).replace("T", " ");

const ofSlug = ({ packages }: Stock, kind: ExtensionKind, slug: string | null) =>
  packages.filter((one) => one.kind === kind && one.slug === slug);

function textsOf(value: unknown): readonly string[] {
  return entriesOf(value).flatMap(([, text]) => (typeof text === "string" ? [text] : []));
}

/** Fields of a language pack, as WordPress's updater and the REST API expect them. */
function translationOf({ kind, slug, version, locale, revised, path }: LanguagePack, base: string) {
  return { type: kind, slug, language: locale, version, updated: dateTime(revised), package: base + path };
}

function translationUpdates(
  packs: readonly LanguagePack[],
  request: { readonly locales: readonly string[]; readonly installed: unknown },
  base: string,
) {
  const found = entriesOf(request.installed).map(([locale, facts]): readonly [string, string] => [
    locale,
    String(fieldOf(facts, "PO-Revision-Date") ?? ""),
  ]);
  const installed: InstalledRevisions = new Map(found);
  return newPacks(packs, new Set(request.locales), installed).map((pack) => ({
    ...translationOf(pack, base),
    autoupdate: true,
  }));
}

interface UpdateCheck {
  /** The installed packages, as WordPress sends them. */
  readonly installed: unknown;
  /** Installed language files, by slug and language. */
  readonly translations: unknown;
  /** The languages that the site uses. */
  readonly locales: unknown;
}

/** Answers an update check: known packages with and without a newer version, and new language packs. */
export function updatesOf(kind: ExtensionKind, check: UpdateCheck, stock: Stock) {
  const newer: Record<string, unknown> = {};
  const same: Record<string, unknown> = {};
  const translations: unknown[] = [];
  for (const [file, one] of entriesOf(fieldOf(check.installed, `${kind}s`))) {
    const version = String(fieldOf(one, "Version") ?? "");
    const slug = file.split("/")[0] ?? "";
    const packs = packsFor(stock.languagePacks, { kind, slug, version });
    const languages = { locales: textsOf(check.locales), installed: fieldOf(check.translations, slug) };
    translations.push(...translationUpdates(packs, languages, stock.base));
    const newest = newestOf(stock.packages.filter((each) => each.kind === kind && each.file === file));
    if (newest === null) continue;
    const list = compareVersions(newest.version, version) > 0 ? newer : same;
    list[file] = offerOf(newest, kind, stock.base);
  }
  return { [`${kind}s`]: newer, no_update: same, translations };
}

function offerOf(newest: CataloguedPackage, kind: ExtensionKind, base: string) {
  const { slug, version, file, url, tested, requiresPlugins } = newest;
  const facts = {
    url,
    package: base + zipPath(newest),
    new_version: version,
    requires: newest.requires || false,
    requires_php: newest.requiresPhp || false,
  };
  if (kind === "theme") return { theme: slug, ...facts };
  const pictures = { icons: { default: icon }, banners: {}, banners_rtl: {} };
  return {
    id: `w.org/plugins/${slug}`,
    slug,
    plugin: file,
    ...facts,
    tested,
    requires_plugins: requiresPlugins,
    ...pictures,
  };
}

/** Fields of a package in lists of search results. `all` are all versions. */
function shownOf(newest: CataloguedPackage, stock: Stock) {
  const { slug, version, title, description, url, updated } = newest;
  const facts = {
    name: title,
    slug,
    version,
    requires: newest.requires || false,
    requires_php: newest.requiresPhp || false,
    rating: 0,
    num_ratings: 0,
    ratings: {},
    active_installs: 0,
    downloaded: 0,
    last_updated: `${dateTime(updated).slice(0, 16)} GMT`,
    homepage: url,
    download_link: stock.base + zipPath(newest),
    tags: {},
  };
  return newest.kind === "theme"
    ? { ...facts, ...themeFacts(newest, description) }
    : { ...facts, ...pluginFacts(newest, description) };
}

function pluginFacts({ author, authorUrl, tested, requiresPlugins }: CataloguedPackage, description: string) {
  return {
    author,
    author_profile: authorUrl,
    tested,
    requires_plugins: requiresPlugins,
    short_description: description,
    description,
    contributors: {},
    support_threads: 0,
    support_threads_resolved: 0,
    donate_link: "",
    icons: { default: icon },
    banners: {},
  };
}

function themeFacts({ author, authorUrl, slug, parent }: CataloguedPackage, description: string) {
  return {
    author: { user_nicename: "", profile: authorUrl, avatar: "", display_name: author, author, author_url: authorUrl },
    description,
    preview_url: "",
    screenshot_url: "",
    reviews_url: "",
    ...(parent !== "" && { template: parent, parent: { slug: parent, name: parent, homepage: "" } }),
    stylesheet: slug,
  };
}

/** Answers `plugin_information` and `theme_information`, or returns null if there is no such package. */
export function informationOf(kind: ExtensionKind, slug: string | null, stock: Stock) {
  const all = ofSlug(stock, kind, slug);
  const newest = newestOf(all);
  if (newest === null) return null;
  const packs = packsFor(stock.languagePacks, { kind, slug: newest.slug, version: newest.version });
  return {
    ...shownOf(newest, stock),
    sections: { description: newest.description },
    versions: Object.fromEntries(all.map((one) => [one.version, stock.base + zipPath(one)])),
    language_packs: packs.map((pack) => translationOf(pack, stock.base)),
  };
}

/** What the client searches for. All texts may be empty. */
export interface Search {
  /** Words, all of which must occur. */
  readonly words: string;
  readonly author: string;
  /** `favorites` finds nothing: there are no accounts. */
  readonly browse: string;
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
}

const maxPerPage = 250;

/** Answers `query_plugins` and `query_themes`: the newest version of each matching package, by title. */
export function searchIn(kind: ExtensionKind, search: Search, stock: Stock) {
  const bySlug = Map.groupBy(
    stock.packages.filter((one) => one.kind === kind),
    ({ slug }) => slug,
  );
  const words = search.words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const isFound = ({ title, slug, description, author }: CataloguedPackage) => {
    const text = `${title} ${slug} ${description}`.toLowerCase();
    const isBy = search.author === "" || author.toLowerCase() === search.author.toLowerCase();
    return isBy && words.every((word) => text.includes(word)) && search.browse !== "favorites";
  };
  const found = [...bySlug.values()].flatMap((all) => newestOf(all) ?? []).filter(isFound);
  const isByDate = search.browse === "new" || search.browse === "updated";
  const sorted = found.toSorted((one, other) =>
    isByDate ? other.updated.getTime() - one.updated.getTime() : one.title.localeCompare(other.title, "en"),
  );
  const perPage = Math.min(maxPerPage, search.perPage);
  const shown = sorted.slice((search.page - 1) * perPage, search.page * perPage);
  return {
    info: { page: search.page, pages: Math.ceil(sorted.length / perPage), results: sorted.length },
    [`${kind}s`]: shown.map((one) => shownOf(one, stock)),
  };
}

/** Name of a language in another one, or null if it is unknown. */
function languageName(locale: string, inLocale: string): string | null {
  try {
    return new Intl.DisplayNames([inLocale], { type: "language" }).of(locale) ?? null;
  } catch {
    return null;
  }
}

/** Answers a request for the available translations of a version. */
export function translationsOf(of: Pick<LanguagePack, "kind" | "slug" | "version">, stock: Stock) {
  const translations = packsFor(stock.languagePacks, of).map(({ version, locale, revised, path }) => {
    const [language = locale, country = ""] = locale.split("_");
    const tag = country === "" ? language : `${language}-${country}`;
    return {
      language: locale,
      version,
      updated: dateTime(revised),
      english_name: languageName(tag, "en") ?? locale,
      native_name: languageName(tag, tag) ?? locale,
      package: stock.base + path,
      iso: { [language.length === 2 ? "1" : "3"]: language },
      strings: { continue: "Continue" },
    };
  });
  return { translations };
}

interface CoreCheck {
  readonly installed: string;
  readonly locale: string;
  /** Installed language files, by text domain and language. */
  readonly translations: unknown;
}

/** Answers a version check of WordPress itself. */
export function coreOffersOf({ installed, locale, translations }: CoreCheck, stock: Stock) {
  const cores = stock.packages.filter(({ kind }) => kind === "core");
  const newestFirst = cores.toSorted((one, other) => compareVersions(other.version, one.version));
  const offers = newestFirst.map((core, at) => {
    const download = stock.base + zipPath(core);
    const isNewer = compareVersions(core.version, installed) > 0;
    return {
      // WordPress offers the first one to users; the others can be requested.
      response: at > 0 ? "autoupdate" : isNewer ? "upgrade" : "latest",
      download,
      locale: "en_US",
      packages: { full: download, no_content: false, new_bundled: false, partial: false, rollback: false },
      current: core.version,
      version: core.version,
      php_version: "7.2.24",
      mysql_version: "5.5.5",
      new_bundled: "",
      partial_version: false,
      new_files: true,
    };
  });
  const packs = packsFor(stock.languagePacks, { kind: "core", slug: "default", version: installed });
  const languages = { locales: [locale], installed: fieldOf(translations, "default") };
  return { offers, translations: translationUpdates(packs, languages, stock.base) };
}
