/** Converts `wp-config.php` for a WordPress that moves to MySQL elsewhere: removes settings that only apply here. */
import { lstat, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { configName } from "../copy/configCopy.ts";
import { phpString } from "../wpConfig.ts";

/** Larger files are ignored: the file is read as a whole, and configurations are small. */
const maxBytes = 1_000_000;

/**
 * Database constants with WordPress's placeholders, as in `wp-config-sample.php`, and the values in our configurations.
 */
const databaseConstants = [
  { name: "DB_NAME", sitewright: "wordpress", placeholder: "database_name_here" },
  { name: "DB_USER", sitewright: "", placeholder: "username_here" },
  { name: "DB_PASSWORD", sitewright: "", placeholder: "password_here" },
  { name: "DB_HOST", sitewright: "localhost", placeholder: "localhost" },
];

const literal = `'(?:[^'\\\\]|\\\\.)*'|"(?:[^"\\\\]|\\\\.)*"`;

/**
 * Definitions in our configurations (`../wpConfig.ts`) that are wrong elsewhere: SQLite, and tasks that Sitewright
 * takes over.
 */
const sitewrightDefinitions = [
  ...["DB_ENGINE", "DB_DIR", "DB_FILE", "SQLITE_JOURNAL_MODE"].map((name) => ({ name, value: literal })),
  { name: "FS_METHOD", value: "'direct'" },
  ...["DISABLE_WP_CRON", "AUTOMATIC_UPDATER_DISABLED"].map((name) => ({ name, value: "true" })),
];

/** Source of a pattern for `define( 'NAME', 'value' );`. The second group is the value as a PHP literal. */
function definition(name: string, value = literal): string {
  return `(\\bdefine\\s*\\(\\s*['"]${name}['"]\\s*,\\s*)(${value})(\\s*\\)\\s*;)`;
}

function withoutSitewright(config: string): string {
  const line = (text: string) => new RegExp(`^[ \\t]*${text}[ \\t]*\\r?\\n`, "gm");
  return sitewrightDefinitions.reduce(
    (text, { name, value }) => text.replace(line(definition(name, value)), ""),
    config,
  );
}

function withPlaceholder(
  config: string,
  { name, sitewright, placeholder }: (typeof databaseConstants)[number],
): string {
  if (!new RegExp(`['"]${name}['"]`).test(config)) {
    const line = `define( '${name}', ${phpString(placeholder)} );\n`;
    return config.replace(/<\?php\b[^\n]*\n/i, (start) => start + line);
  }
  return config.replace(new RegExp(definition(name)), (whole, before: string, value: string, after: string) =>
    [phpString(sitewright), `"${sitewright}"`].includes(value) ? before + phpString(placeholder) + after : whole,
  );
}

/** Converts the text of a configuration. Database values of the site's owner are kept. */
export function convertConfig(config: string): string {
  // Each is inserted before the existing ones, so the last one comes first.
  return databaseConstants.toReversed().reduce(withPlaceholder, withoutSitewright(config));
}

/** Converts the file, if it exists. Writes a new file: this one may be a hard link to the original. */
export async function exportConfig(webRoot: string): Promise<void> {
  const file = path.join(webRoot, configName);
  const facts = await lstat(file).catch(() => null);
  if (!facts?.isFile() || facts.size > maxBytes) return;
  // As bytes, because the encoding is unknown.
  const text = convertConfig(await readFile(file, "latin1"));
  await rm(file);
  await writeFile(file, text, { encoding: "latin1", mode: 0o600 });
}
