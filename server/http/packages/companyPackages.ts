/**
 * The list of a company's plugins, or themes, as it is sent. A page of it may be four megabytes, of ten thousand entries: what the
 * environments of one are written as is kept as long as they are the same, and a page is put together of that.
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

/** What an endpoint calls what is said of one in an environment. */
type Named<Fields> = (facts: PackageFacts) => Fields;

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

function environmentsOf<Fields>(holders: readonly PackageHolder[], named: Named<Fields>) {
  return holders.map(({ environment: { id, site_display_name, display_name }, entry }) => ({
    id,
    site_display_name,
    display_name,
    ...named(factsOf(entry)),
  }));
}

/** Of an object as JSON, all but its end. */
const opened = (object: object): string => JSON.stringify(object).slice(0, -1);
/** The same, to come after others of its object. */
const continued = (object: object): string => `,${JSON.stringify(object).slice(1)}`;

/** How an entry of the environment's begins, once for all of its packages. */
const beginnings = new WeakMap<HolderEnvironment, string>();

function beginningOf(environment: HolderEnvironment): string {
  const known = beginnings.get(environment);
  if (known !== undefined) return known;
  const { id, site_display_name, display_name } = environment;
  const text = opened({ id, site_display_name, display_name });
  beginnings.set(environment, text);
  return text;
}

/** The same for entries of which the same is said. No version has a line's end in it. */
function keyOf({ is_active, is_vulnerable, is_update_vulnerable, is_managed, is_auto_updated, ...entry }: Entry) {
  const flags = `${is_active}${is_vulnerable}${is_update_vulnerable}${is_managed}${is_auto_updated}`;
  return `${flags}${entry.update_status}\n${entry.version}\n${entry.update_version ?? "\n"}`;
}

/** By list: one is of plugins or of themes for ever. */
const lists = new WeakMap<readonly PackageHolder[], Buffer>();

/** A thousand environments have the same few versions: those are written as JSON, and the entries put together of them. */
function writeEnvironments<Fields extends object>(holders: readonly PackageHolder[], named: Named<Fields>): Buffer {
  const known = lists.get(holders);
  if (known !== undefined) return known;
  const ends = new Map<string, string>();
  const endOf = (entry: Entry) => {
    const key = keyOf(entry);
    const text = ends.get(key) ?? continued(named(factsOf(entry)));
    ends.set(key, text);
    return text;
  };
  const entries = holders.map(({ environment, entry }) => beginningOf(environment) + endOf(entry));
  const list = Buffer.from(`[${entries.join(",")}]`);
  lists.set(holders, list);
  return list;
}

/** The answer as it is sent, in parts that follow one another: what `bodyOf` says. */
export function write<Fields extends object>(
  page: CompanyPage,
  what: "plugins" | "themes",
  named: Named<Fields>,
): readonly Buffer[] {
  const { items, ...envelope } = page;
  const begin = `{"company":{"${what}":${opened(envelope)},"items":[`;
  const parts = items.flatMap((item, at) => [
    Buffer.from(`${at === 0 ? begin : "},"}${opened(headOf(item))},"environments":`),
    writeEnvironments(item.holders, named),
  ]);
  return [...parts, Buffer.from(items.length === 0 ? `${begin}]}}}` : "}]}}}")];
}

export function bodyOf<Fields>({ items, ...envelope }: CompanyPage, named: Named<Fields>) {
  const shown = items.map((item) => ({ ...headOf(item), environments: environmentsOf(item.holders, named) }));
  return { ...envelope, items: shown };
}
