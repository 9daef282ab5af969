/** Finds the prefix of WordPress's tables, which the site's owner may choose. */
import { readConfig } from "./copy/configCopy.ts";

const defaultPrefix = "wp_";
/** `$table_prefix = 'wp_';` on a line of its own. */
const assignment = /^\s*\$table_prefix\s*=\s*(['"])([A-Za-z0-9_]{1,50})\1\s*;/m;

/** Reads the prefix from the configuration in the web root. Returns the default if it can't be read. */
export async function tablePrefixOf(webRoot: string): Promise<string> {
  const text = await readConfig(webRoot).catch(() => null);
  return assignment.exec(text ?? "")?.[2] ?? defaultPrefix;
}
