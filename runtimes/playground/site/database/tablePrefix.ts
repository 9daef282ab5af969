/** What the names of WordPress's tables begin with: its owner may choose. */
import { readConfig } from "../copy/configCopy.ts";

const usual = "wp_";
/** `$table_prefix = 'wp_';` on a line of its own. */
const assignment = /^\s*\$table_prefix\s*=\s*(['"])([A-Za-z0-9_]{1,50})\1\s*;/m;

/** As the configuration of the web root says it; the usual one where there is none, or it can't be read. */
export async function tablePrefixOf(webRoot: string): Promise<string> {
  const text = await readConfig(webRoot).catch(() => null);
  return assignment.exec(text ?? "")?.[2] ?? usual;
}
