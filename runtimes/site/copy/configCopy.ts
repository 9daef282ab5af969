/** Adapts `wp-config.php` in a copy of a site: the source's text with the copy's addresses and salts. */
import { lstat, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { AddressChange } from "../../runtime.ts";
import { addressChanger } from "../values/addressChanger.ts";
import { phpString, salt, saltNames } from "../wpConfig.ts";

export const configName = "wp-config.php";

/** Larger files are ignored: the file is read as a whole, and configurations are small. */
const maxBytes = 1_000_000;

/** Matches `define( 'AUTH_KEY', '…' )` in three parts; the second is the value as a PHP literal. */
function saltPattern(name: string): RegExp {
  return new RegExp(
    `(\\bdefine\\s*\\(\\s*['"]${name}['"]\\s*,\\s*)('(?:[^'\\\\]|\\\\.)*'|"(?:[^"\\\\]|\\\\.)*")(\\s*\\))`,
    "s",
  );
}

/** Reads the configuration of a web root. Null if there is none, or it is too large. */
export async function readConfig(webRoot: string): Promise<string | null> {
  const file = path.join(webRoot, configName);
  const facts = await lstat(file).catch(() => null);
  return facts?.isFile() && facts.size <= maxBytes ? readFile(file, "utf8") : null;
}

/**
 * Returns the source's configuration with new addresses, the salts of `own`, and new salts for the others, so that no
 * two sites share any.
 */
export function adaptConfig(source: string, own: string | null, addresses: readonly AddressChange[]): string {
  return saltNames.reduce((text, name) => {
    const pattern = saltPattern(name);
    const value = (own === null ? null : pattern.exec(own)?.[2]) ?? phpString(salt());
    return text.replace(pattern, (_, before: string, __, after: string) => before + value + after);
  }, addressChanger(addresses)(source));
}

/**
 * Adapts the configuration in `webRoot`, a copy of the source's. `ownRoot` is the web root whose salts are kept, so
 * that users stay logged in; null: all salts are new.
 */
export async function rewriteConfig(
  webRoot: string,
  ownRoot: string | null,
  addresses: readonly AddressChange[],
): Promise<void> {
  const source = await readConfig(webRoot);
  if (source === null) return;
  // If the own configuration can't be read, everyone is logged out, but the copy is complete.
  const own = ownRoot === null ? null : await readConfig(ownRoot).catch(() => null);
  const file = path.join(webRoot, configName);
  // A new file, because PHP may have set other permissions on the copied one.
  await rm(file);
  await writeFile(file, adaptConfig(source, own, addresses), { mode: 0o600, flush: true });
}
