/** Finds the options tables of a WordPress: one, or in a network one for each site. */
import type { DatabaseSync } from "node:sqlite";
import type { NetworkSite } from "../runtime.ts";
import { quoted } from "./findPlaceholders.ts";
import { hasTable } from "./wordpressTables.ts";

/** Maximum number of sites of a network. */
const maxSites = 2_000;
const maxAddressLength = 255;
/** Valid hosts of a request. */
const host = /^[a-z0-9._-]+(?::\d{1,5})?$/i;

/** A site and its options table. */
export interface SiteOptions {
  /** Null if there is no network. */
  readonly place: NetworkSite | null;
  readonly options: string;
}

export function hasOptions(database: DatabaseSync, name: string): boolean {
  return hasTable(database, name, ["option_name", "option_value"]);
}

/** Returns the sites of a network that are not closed, oldest first; null if there is no network. */
function networkSites(database: DatabaseSync, prefix: string): SiteOptions[] | null {
  const blogs = `${prefix}blogs`;
  if (!hasTable(database, blogs, ["blog_id", "domain", "path", "archived", "spam", "deleted"])) return null;
  const rows = database
    .prepare(
      `SELECT blog_id AS number, domain, path FROM ${quoted(blogs)}
       WHERE archived = 0 AND spam = 0 AND deleted = 0 AND length(domain) <= ${maxAddressLength}
       AND length(path) <= ${maxAddressLength} ORDER BY blog_id LIMIT ${maxSites}`,
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

/** Returns the sites that have their options table: a site that is being created has none yet. */
export function sitesWithOptions(database: DatabaseSync, prefix: string): readonly SiteOptions[] {
  const all = networkSites(database, prefix) ?? [{ place: null, options: `${prefix}options` }];
  return all.filter(({ options }) => hasOptions(database, options));
}
