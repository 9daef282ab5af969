/** Where the sites of a WordPress have their options: one table, and in a network one for each site. */
import type { DatabaseSync } from "node:sqlite";
import type { NetworkPlace } from "../../../runtime.ts";
import { quoted } from "../../templates/places.ts";
import { hasTable } from "./wordpressTables.ts";

/** Maximum number of sites of a network. */
const maxSites = 2_000;
const longestPlace = 255;
/** What can be the host of a request. */
const host = /^[a-z0-9._-]+(?::\d{1,5})?$/i;

/** A site, and its table of options. */
export interface SiteOptions {
  /** Null if there is no network. */
  readonly place: NetworkPlace | null;
  readonly options: string;
}

export function hasOptions(database: DatabaseSync, name: string): boolean {
  return hasTable(database, name, ["option_name", "option_value"]);
}

/** The sites of a network that are not closed, in the order in which they were made; null if there is no network. */
function networkSites(database: DatabaseSync, prefix: string): SiteOptions[] | null {
  const blogs = `${prefix}blogs`;
  if (!hasTable(database, blogs, ["blog_id", "domain", "path", "archived", "spam", "deleted"])) return null;
  const rows = database
    .prepare(
      `SELECT blog_id AS number, domain, path FROM ${quoted(blogs)}
       WHERE archived = 0 AND spam = 0 AND deleted = 0 AND length(domain) <= ${longestPlace}
       AND length(path) <= ${longestPlace} ORDER BY blog_id LIMIT ${maxSites}`,
    )
    .all();
  return rows.flatMap(({ number, domain, path }) => {
    if (typeof number !== "number" || typeof domain !== "string" || typeof path !== "string") return [];
    if (!host.test(domain)) return [];
    return [
      { place: { host: domain, path }, options: number === 1 ? `${prefix}options` : `${prefix}${number}_options` },
    ];
  });
}

/** Those that have their table: a site that is just being made has none yet. */
export function sitesWithOptions(database: DatabaseSync, prefix: string): readonly SiteOptions[] {
  const all = networkSites(database, prefix) ?? [{ place: null, options: `${prefix}options` }];
  return all.filter(({ options }) => hasOptions(database, options));
}
