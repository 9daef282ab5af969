/**
 * Reads from the database which plugins and themes are active, and which WordPress updates automatically. PHP writes
 * it, so anything expected may be missing, of another type, or too large.
 */
import { DatabaseSync } from "node:sqlite";
import type { PackageStates } from "../../packageFiles.ts";
import { RuntimeFailure } from "../../runtime.ts";
import { readPhpValue } from "../../site/values/phpValue.ts";
import { quoted } from "../findPlaceholders.ts";
import { sitesWithOptions } from "../siteOptions.ts";
import { hasTable } from "../wordpressTables.ts";

/** No list of plugins is longer. */
const maxBytes = 1_000_000;
/** How long a reader waits for a writer. */
const lockTimeoutMilliseconds = 1_000;

interface ValueColumn {
  readonly table: string;
  readonly name: "option_name" | "meta_key";
  readonly value: "option_value" | "meta_value";
}

const optionsIn = (table: string): ValueColumn => ({ table, name: "option_name", value: "option_value" });

/** Reads a value; null if there is none, or it is too long. */
function readValue(database: DatabaseSync, { table, name, value }: ValueColumn, wanted: string): Uint8Array | null {
  const row = database
    .prepare(
      `SELECT substr(CAST(${value} AS BLOB), 1, ${maxBytes + 1}) AS found FROM ${quoted(table)} WHERE ${name} = ? LIMIT 1`,
    )
    .get(wanted);
  const found = row?.found;
  return found instanceof Uint8Array && found.length <= maxBytes ? found : null;
}

/** Parses a serialised list. Throws `RuntimeFailure` if it is damaged. */
function parseList(bytes: Uint8Array | null, name: string, of: "keys" | "values"): readonly string[] {
  if (bytes === null || bytes.length === 0) return [];
  try {
    const value = readPhpValue(bytes);
    if (typeof value !== "object" || value === null) return [];
    // A PHP list is parsed to an array, and no plugin file is a number.
    const all: readonly unknown[] = of === "keys" ? Object.keys(value) : Object.values(value);
    return all.filter((each) => typeof each === "string");
  } catch (cause) {
    throw new RuntimeFailure(`WordPress's option \`${name}\` is damaged.`, { cause });
  }
}

/**
 * Reads a database that may be in use, without changing it. Throws SQLite's errors if it is damaged, being written, or
 * has an unfinished write; `RuntimeFailure` if it is not WordPress's.
 */
export function readPackageStates({ file, prefix }: { readonly file: string; readonly prefix: string }): PackageStates {
  const database = new DatabaseSync(file, { readOnly: true, timeout: lockTimeoutMilliseconds });
  try {
    database.exec("BEGIN");
    const sites = sitesWithOptions(database, prefix);
    if (sites.length === 0) {
      throw new RuntimeFailure(`The site's database has no WordPress table ${prefix}options.`);
    }
    const plugins = sites.flatMap(({ options }) =>
      parseList(readValue(database, optionsIn(options), "active_plugins"), "active_plugins", "values"),
    );
    const themes = sites.flatMap(({ options }) =>
      ["stylesheet", "template"].flatMap((name) => {
        const bytes = readValue(database, optionsIn(options), name);
        return bytes === null ? [] : [Buffer.from(bytes).toString("utf8")];
      }),
    );
    const meta = `${prefix}sitemeta`;
    const isNetwork = hasTable(database, meta, ["meta_key", "meta_value"]);
    const everywhere: ValueColumn = isNetwork
      ? { table: meta, name: "meta_key", value: "meta_value" }
      : optionsIn(`${prefix}options`);
    const networkPlugins = isNetwork
      ? parseList(readValue(database, everywhere, "active_sitewide_plugins"), "active_sitewide_plugins", "keys")
      : [];
    const autoUpdated = (name: string) => new Set(parseList(readValue(database, everywhere, name), name, "values"));
    return {
      activePlugins: new Set([...plugins, ...networkPlugins]),
      activeThemes: new Set(themes),
      autoUpdated: { plugin: autoUpdated("auto_update_plugins"), theme: autoUpdated("auto_update_themes") },
    };
  } finally {
    database.close();
  }
}
