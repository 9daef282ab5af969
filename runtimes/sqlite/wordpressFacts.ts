/**
 * Reads facts about the WordPress in a site's database. PHP writes the database, so anything expected may be missing.
 */
import { DatabaseSync } from "node:sqlite";
import { RuntimeFailure, type WordPressFacts } from "../runtime.ts";
import { fromStored } from "../site/values/serialized.ts";
import { advice, hasTable, requireTables } from "./wordpressTables.ts";

/** Facts that the database contains; the kind of network is recorded elsewhere. */
export type StoredFacts = Omit<WordPressFacts, "multisite">;

/** Titles and names are not longer. */
const maxTextLength = 1_000;

/** Undoes `escapeTitle` and WordPress's own escaping of titles, in one pass: `&amp;lt;` becomes `&lt;`. */
export function unescapeTitle(stored: string): string {
  const characters: Readonly<Record<string, string>> = {
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    "#039": "'",
    "#39": "'",
  };
  return stored.replace(/&(amp|lt|gt|quot|#0?39);/g, (entity, name: string) => characters[name] ?? entity);
}

function isShortText(value: unknown): value is string {
  return typeof value === "string" && value.length <= maxTextLength;
}

/** Returns the first value as text; null if there is none, or it is not a short text. */
function firstText(database: DatabaseSync, select: string, name: string): string | null {
  // Limits the size that is read.
  const value = database
    .prepare(`SELECT substr(value, 1, ${maxTextLength + 1}) AS value FROM (${select})`)
    .get(name)?.value;
  return isShortText(value) ? value : null;
}

function option(database: DatabaseSync, name: string): string | null {
  return firstText(database, "SELECT option_value AS value FROM wp_options WHERE option_name = ?", name);
}

/** Returns the site's language, or its network's default. */
function localeOf(database: DatabaseSync): string {
  const own = option(database, "WPLANG");
  if (own !== null) return own || "en_US";
  if (!hasTable(database, "wp_sitemeta", ["meta_key", "meta_value"])) return "en_US";
  return firstText(database, "SELECT meta_value AS value FROM wp_sitemeta WHERE meta_key = ?", "WPLANG") || "en_US";
}

/** Returns the oldest administrator. */
function administratorOf(database: DatabaseSync): { readonly login: string; readonly email: string } {
  const row = database
    .prepare(
      `SELECT user.user_login AS login, user.user_email AS email FROM wp_users AS user
       WHERE EXISTS (
         SELECT 1 FROM wp_usermeta AS meta WHERE meta.user_id = user.ID
         AND meta.meta_key = 'wp_capabilities' AND instr(meta.meta_value, '"administrator";b:1;') > 0
       ) ORDER BY user.ID LIMIT 1`,
    )
    .get();
  if (isShortText(row?.login) && isShortText(row?.email)) return { login: row.login, email: row.email };
  throw new RuntimeFailure(`The site's database has no administrator. ${advice}`);
}

/** Reads the facts from a copy of a database. Throws `RuntimeFailure` if it lacks WordPress's tables or values. */
export function readStoredFacts(file: string): StoredFacts {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    requireTables(database, ["wp_options", "wp_users", "wp_usermeta"]);
    const title = option(database, "blogname");
    if (title === null) throw new RuntimeFailure(`The site's database has no site title. ${advice}`);
    const { login, email } = administratorOf(database);
    return { title: unescapeTitle(fromStored(title)), adminUser: login, adminEmail: email, locale: localeOf(database) };
  } finally {
    database.close();
  }
}
