/** `wp-config.php` for a WordPress that moves to MySQL elsewhere: without what only holds here. */
import { lstat, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { configName } from "../copy/configCopy.ts";
import { phpString } from "../wpConfig.ts";

/** Larger files are not written by hand, and the file is read as a whole. */
const maxBytes = 1_000_000;

/** As WordPress's own `wp-config-sample.php` has them; `ours` stands here for having none. */
const placeholders = [
  { name: "DB_NAME", ours: "wordpress", placeholder: "database_name_here" },
  { name: "DB_USER", ours: "", placeholder: "username_here" },
  { name: "DB_PASSWORD", ours: "", placeholder: "password_here" },
  { name: "DB_HOST", ours: "localhost", placeholder: "localhost" },
];

const literal = `'(?:[^'\\\\]|\\\\.)*'|"(?:[^"\\\\]|\\\\.)*"`;

/** Written by us (`../wpConfig.ts`), and of no use elsewhere: SQLite, and what Sitewright sees to itself. */
const oursAlone = [
  ...["DB_ENGINE", "DB_DIR", "DB_FILE", "SQLITE_JOURNAL_MODE"].map((name) => ({ name, value: literal })),
  { name: "FS_METHOD", value: "'direct'" },
  ...["DISABLE_WP_CRON", "AUTOMATIC_UPDATER_DISABLED"].map((name) => ({ name, value: "true" })),
];

/** The source of a pattern for `define( 'NAME', 'value' );`, of which the second group is the value as PHP writes it. */
function definition(name: string, value = literal): string {
  return `(\\bdefine\\s*\\(\\s*['"]${name}['"]\\s*,\\s*)(${value})(\\s*\\)\\s*;)`;
}

function withoutOurs(config: string): string {
  const line = (text: string) => new RegExp(`^[ \\t]*${text}[ \\t]*\\r?\\n`, "gm");
  return oursAlone.reduce((text, { name, value }) => text.replace(line(definition(name, value)), ""), config);
}

function withPlaceholder(config: string, { name, ours, placeholder }: (typeof placeholders)[number]): string {
  if (!new RegExp(`['"]${name}['"]`).test(config)) {
    const line = `define( '${name}', ${phpString(placeholder)} );\n`;
    return config.replace(/<\?php\b[^\n]*\n/i, (start) => start + line);
  }
  return config.replace(new RegExp(definition(name)), (whole, before: string, value: string, after: string) =>
    [phpString(ours), `"${ours}"`].includes(value) ? before + phpString(placeholder) + after : whole,
  );
}

/** Own values for a database are kept. */
export function exportedConfig(config: string): string {
  // Each is put before the ones that are there: the last one first.
  return placeholders.toReversed().reduce(withPlaceholder, withoutOurs(config));
}

/** Replaces the file by another one: it may be linked to where it comes from. One that is not there stays so. */
export async function exportConfig(webRoot: string): Promise<void> {
  const file = path.join(webRoot, configName);
  const facts = await lstat(file).catch(() => null);
  if (!facts?.isFile() || facts.size > maxBytes) return;
  // Byte by byte, whatever its encoding is.
  const text = exportedConfig(await readFile(file, "latin1"));
  await rm(file);
  await writeFile(file, text, { encoding: "latin1", mode: 0o600 });
}
