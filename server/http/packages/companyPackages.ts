/**
 * Serialises the list of a company's plugins or themes. A page may have ten thousand entries and four megabytes, so the
 * serialised environments of each package are cached, and a page is assembled from them.
 */
import {
  type CompanyPackage,
  type CompanyPage,
  factsOf,
  type PackageFacts,
  type PackageHolder,
} from "@sitewright/server/app/packages/packages.ts";

type HolderEnvironment = PackageHolder["environment"];
type Entry = PackageHolder["entry"];

/** Renames the fields of a package in an environment to those of an endpoint. */
type FieldNaming<Fields> = (facts: PackageFacts) => Fields;

export function asPlugin({ auto_update_type, ...one }: PackageFacts) {
  return {
    plugin_status: one.status,
    plugin_update: one.update,
    plugin_version: one.version,
    is_plugin_version_vulnerable: one.is_version_vulnerable,
    plugin_update_version: one.update_version,
    is_plugin_update_version_vulnerable: one.is_update_version_vulnerable,
    plugin_update_status: one.update_status,
    auto_update_type,
  };
}

export function asTheme({ auto_update_type, ...one }: PackageFacts) {
  return {
    theme_status: one.status,
    theme_update: one.update,
    theme_version: one.version,
    is_theme_version_vulnerable: one.is_version_vulnerable,
    theme_update_version: one.update_version,
    is_theme_update_version_vulnerable: one.is_update_version_vulnerable,
    theme_update_status: one.update_status,
    auto_update_type,
  };
}

function headOf({ name, newest, latest_version, is_latest_version_vulnerable, holders, update_count }: CompanyPackage) {
  const { title, description } = newest;
  const counts = { environment_count: holders.length, update_count };
  return { name, title, description, latest_version, is_latest_version_vulnerable, ...counts };
}

function environmentsOf<Fields>(holders: readonly PackageHolder[], named: FieldNaming<Fields>) {
  return holders.map(({ environment: { id, site_id, site_display_name, display_name }, entry }) => ({
    id,
    site_id,
    site_display_name,
    display_name,
    ...named(factsOf(entry)),
  }));
}

/** The object as JSON without its closing brace. */
const withoutEnd = (object: object): string => JSON.stringify(object).slice(0, -1);
/** The object as JSON with a comma instead of its opening brace: it completes `withoutEnd` of another object. */
const continuation = (object: object): string => `,${JSON.stringify(object).slice(1)}`;

/** The first part of an environment's entries, which all of its packages share. */
const cachedHeads = new WeakMap<HolderEnvironment, string>();

function environmentHeadOf(environment: HolderEnvironment): string {
  const cached = cachedHeads.get(environment);
  if (cached !== undefined) return cached;
  const { id, site_id, site_display_name, display_name } = environment;
  const text = withoutEnd({ id, site_id, site_display_name, display_name });
  cachedHeads.set(environment, text);
  return text;
}

/** A key that is equal for entries with equal fields. Versions contain no line breaks. */
function keyOf({ is_active, is_vulnerable, is_update_vulnerable, is_managed, is_auto_updated, ...entry }: Entry) {
  const flags = `${is_active}${is_vulnerable}${is_update_vulnerable}${is_managed}${is_auto_updated}`;
  return `${flags}${entry.update_status}\n${entry.version}\n${entry.update_version ?? "\n"}`;
}

/** Serialised environments by the list of holders, which is always of the same kind of package. */
const cachedLists = new WeakMap<readonly PackageHolder[], Buffer>();

/** Serialises each distinct version only once, because many environments share few versions. */
function writeEnvironments<Fields extends object>(
  holders: readonly PackageHolder[],
  named: FieldNaming<Fields>,
): Buffer {
  const cached = cachedLists.get(holders);
  if (cached !== undefined) return cached;
  const tails = new Map<string, string>();
  const tailOf = (entry: Entry) => {
    const key = keyOf(entry);
    const text = tails.get(key) ?? continuation(named(factsOf(entry)));
    tails.set(key, text);
    return text;
  };
  const entries = holders.map(({ environment, entry }) => environmentHeadOf(environment) + tailOf(entry));
  const list = Buffer.from(`[${entries.join(",")}]`);
  cachedLists.set(holders, list);
  return list;
}

/** The serialised body in consecutive parts. Equal to what `bodyOf` returns, wrapped in `company` and `what`. */
export function write<Fields extends object>(
  page: CompanyPage,
  what: "plugins" | "themes",
  named: FieldNaming<Fields>,
): readonly Buffer[] {
  const { items, ...envelope } = page;
  const start = `{"company":{"${what}":${withoutEnd(envelope)},"items":[`;
  const parts = items.flatMap((item, index) => [
    Buffer.from(`${index === 0 ? start : "},"}${withoutEnd(headOf(item))},"environments":`),
    writeEnvironments(item.holders, named),
  ]);
  return [...parts, Buffer.from(items.length === 0 ? `${start}]}}}` : "}]}}}")];
}

export function bodyOf<Fields>({ items, ...envelope }: CompanyPage, named: FieldNaming<Fields>) {
  const shown = items.map((item) => ({ ...headOf(item), environments: environmentsOf(item.holders, named) }));
  return { ...envelope, items: shown };
}
