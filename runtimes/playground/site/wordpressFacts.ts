/** What a site's database says of the WordPress in it. PHP writes it, so that everything that is expected may be missing. */
import { DatabaseSync } from "node:sqlite";
import { RuntimeFailure, type WordPressFacts } from "../../runtime.ts";
import { hasTable, requireTables, whatToDo } from "./database/wordpressTables.ts";
import { fromStored } from "./replace/serialized.ts";

/** Whatever the database says; the kind of network is known from elsewhere. */
export type StoredFacts = Omit<WordPressFacts, "multisite">;

/** Longer ones are not titles or names. */
const longestText = 1_000;

/** Undoes `escapeTitle`, and what WordPress itself escapes a title with. In one pass: `&amp;lt;` is `&lt;`. */
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
  return typeof value === "string" && value.length <= longestText;
}

/** Null if there is none, or none that could be one. */
function firstText(database: DatabaseSync, select: string, name: string): string | null {
  // What is too long is not even read.
  const value = database
    .prepare(`SELECT substr(value, 1, ${longestText + 1}) AS value FROM (${select})`)
    .get(name)?.value;
  return isShortText(value) ? value : null;
}

function option(database: DatabaseSync, name: string): string | null {
  return firstText(database, "SELECT option_value AS value FROM wp_options WHERE option_name = ?", name);
}

/** A network has a language for those of its sites that have none. */
function localeOf(database: DatabaseSync): string {
  const own = option(database, "WPLANG");
  if (own !== null) return own || "en_US";
  if (!hasTable(database, "wp_sitemeta", ["meta_key", "meta_value"])) return "en_US";
  return firstText(database, "SELECT meta_value AS value FROM wp_sitemeta WHERE meta_key = ?", "WPLANG") || "en_US";
}

/** The one who has been there longest. */
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
  throw new RuntimeFailure(`The site's database has no administrator. ${whatToDo}`);
}

/** Reads a copy of a database. Throws `RuntimeFailure` if it is not as WordPress makes one. */
export function readStoredFacts(file: string): StoredFacts {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    requireTables(database, ["wp_options", "wp_users", "wp_usermeta"]);
    const title = option(database, "blogname");
    if (title === null) throw new RuntimeFailure(`The site's database has no title of the site. ${whatToDo}`);
    const { login, email } = administratorOf(database);
    return { title: unescapeTitle(fromStored(title)), adminUser: login, adminEmail: email, locale: localeOf(database) };
  } finally {
    database.close();
  }
}
