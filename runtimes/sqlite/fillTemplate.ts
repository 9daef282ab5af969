/**
 * Replaces the placeholders in a copy of a template's database by an environment's values: address, title,
 * administrator, dates. Node does this in one transaction before PHP opens the database; PHP would take a hundred times
 * as long.
 */
import { DatabaseSync } from "node:sqlite";
import type { WordPressInstall } from "../runtime.ts";
import type { PlaceholderPosition } from "../site/template.ts";
import { placeholders } from "../site/values/placeholders.ts";
import { asStored, changeText } from "../site/values/serialized.ts";
import { quoted } from "./findPlaceholders.ts";
import { makeCommitsDurable } from "./withDatabase.ts";

/**
 * Escapes a title like WordPress: HTML characters become entities. Ampersands are always escaped, even where they look
 * like an entity, so that pages show exactly what the user typed.
 */
export function escapeTitle(title: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#039;" };
  return title.replace(/[&<>"']/g, (character) => names[character] ?? character);
}

/** Derives an author's URL name from a login, like WordPress. */
export function nicename(login: string): string {
  const slug = login
    .toLowerCase()
    .replace(/\./g, "-")
    .replace(/[^a-z0-9 _-]/g, "")
    .replace(/\s+/g, "-")
    .replace(/-+/g, "-")
    .replace(/^-|-$/g, "");
  return (slug || "administrator").slice(0, 50);
}

const anyPlaceholder = new RegExp(
  [placeholders.address, placeholders.adminEmail, placeholders.host, placeholders.title, placeholders.adminUser]
    .map((text) => text.replaceAll(".", "\\."))
    .join("|"),
  "g",
);

/** Returns a function that replaces placeholders in one pass, so that the user's values are not replaced in turn. */
function replacer(wordpress: WordPressInstall, title: string): (text: string) => string {
  const values = new Map<string, string>([
    [placeholders.address, wordpress.address],
    [placeholders.host, new URL(wordpress.address).host],
    [placeholders.title, title],
    [placeholders.adminUser, wordpress.adminUser],
    [placeholders.adminEmail, wordpress.adminEmail],
  ]);
  return (text) => text.replace(anyPlaceholder, (found) => values.get(found) ?? found);
}

/** Columns in which WordPress reads serialised values: text that looks like one must be escaped. */
const storedColumns = new Set(["option_value", "meta_value"]);

function fill(text: string, column: string, replace: (text: string) => string): string {
  const isTitle = text === placeholders.title && storedColumns.has(column);
  return isTitle ? asStored(replace(text)) : changeText(text, replace);
}

function fillPosition(database: DatabaseSync, position: PlaceholderPosition, wordpress: WordPressInstall): void {
  const { table, column, rowid } = position;
  const row = database.prepare(`SELECT ${quoted(column)} AS text FROM ${quoted(table)} WHERE rowid = ?`).get(rowid);
  // A network's name is stored unescaped; a site's title is stored escaped.
  const title = table === "wp_sitemeta" ? wordpress.title : escapeTitle(wordpress.title);
  const text = String(row?.text ?? "");
  const filled =
    column === "user_nicename" ? nicename(wordpress.adminUser) : fill(text, column, replacer(wordpress, title));
  database.prepare(`UPDATE ${quoted(table)} SET ${quoted(column)} = ? WHERE rowid = ?`).run(filled, rowid);
}

const dates: Readonly<Record<string, readonly string[]>> = {
  wp_posts: ["post_date", "post_date_gmt", "post_modified", "post_modified_gmt"],
  wp_comments: ["comment_date", "comment_date_gmt"],
  wp_blogs: ["registered", "last_updated"],
  wp_users: ["user_registered"],
};

/** Where WordPress stores expiry times of transients, in seconds. */
const expiries = [
  { table: "wp_options", name: "option_name", value: "option_value" },
  { table: "wp_sitemeta", name: "meta_key", value: "meta_value" },
];

/** Shifts all dates from the template's creation to now, in local time and UTC alike. */
function moveDates(database: DatabaseSync): void {
  const row = database.prepare("SELECT unixepoch('now') - unixepoch(user_registered) AS age FROM wp_users").get();
  const age = Number(row?.age ?? 0);
  for (const [table, columns] of Object.entries(dates)) {
    if (!hasTable(database, table)) continue;
    for (const column of columns) {
      database
        .prepare(`UPDATE ${table} SET ${column} = datetime(${column}, ?) WHERE ${column} > '0000-00-00 00:00:00'`)
        .run(`+${age} seconds`);
    }
  }
  for (const { table, name, value } of expiries) {
    if (!hasTable(database, table)) continue;
    database
      .prepare(
        `UPDATE ${table} SET ${value} = CAST(${value} AS INTEGER) + ? WHERE ${name} GLOB '*_transient_timeout_*'`,
      )
      .run(age);
  }
}

function hasTable(database: DatabaseSync, table: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table) !== undefined;
}

/** Fills in an environment's values. `passwordHash` is stored in `user_pass`: `$wp$2y$10$…`. */
export function fillTemplate(
  file: string,
  positions: readonly PlaceholderPosition[],
  wordpress: WordPressInstall,
  passwordHash: string,
): void {
  const database = new DatabaseSync(file);
  try {
    makeCommitsDurable(database);
    database.exec("BEGIN IMMEDIATE");
    for (const position of positions) fillPosition(database, position, wordpress);
    database.prepare("UPDATE wp_users SET user_pass = ?").run(passwordHash);
    moveDates(database);
    database.exec("COMMIT");
  } finally {
    database.close();
  }
}
