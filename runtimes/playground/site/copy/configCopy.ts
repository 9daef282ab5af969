/** `wp-config.php` in a copy of a site: the source's text, with the copy's addresses and its own salts. */
import { lstat, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { AddressChange } from "../../../runtime.ts";
import { addressChanger } from "../address/addresses.ts";
import { phpString, salt, saltNames } from "../wpConfig.ts";

export const configName = "wp-config.php";

/** Larger files are not written by hand, and the file is read as a whole. */
const maxBytes = 1_000_000;

/** `define( 'AUTH_KEY', '…' )` in three parts, of which the second is the value as PHP writes it. */
function saltPattern(name: string): RegExp {
  return new RegExp(
    `(\\bdefine\\s*\\(\\s*['"]${name}['"]\\s*,\\s*)('(?:[^'\\\\]|\\\\.)*'|"(?:[^"\\\\]|\\\\.)*")(\\s*\\))`,
    "s",
  );
}

/** The text of the configuration of this web root; null if there is none that could be read. */
export async function readConfig(webRoot: string): Promise<string | null> {
  const file = path.join(webRoot, configName);
  const facts = await lstat(file).catch(() => null);
  return facts?.isFile() && facts.size <= maxBytes ? readFile(file, "utf8") : null;
}

/** Keeps the salts that `own` has and makes new ones for the rest, so that no two sites share them. */
export function copiedConfig(source: string, own: string | null, addresses: readonly AddressChange[]): string {
  return saltNames.reduce((text, name) => {
    const pattern = saltPattern(name);
    const value = (own === null ? null : pattern.exec(own)?.[2]) ?? phpString(salt());
    return text.replace(pattern, (_, before: string, __, after: string) => before + value + after);
  }, addressChanger(addresses)(source));
}

/**
 * Makes the configuration in `webRoot`, a copy of the source's web root, its own. `ownRoot` is the web root whose
 * salts are kept, so that visitors stay logged in; null: every salt is new.
 */
export async function ownConfig(
  webRoot: string,
  ownRoot: string | null,
  addresses: readonly AddressChange[],
): Promise<void> {
  const source = await readConfig(webRoot);
  if (source === null) return;
  // If its own can't be read, everyone is logged out; the copy is complete anyway.
  const own = ownRoot === null ? null : await readConfig(ownRoot).catch(() => null);
  const file = path.join(webRoot, configName);
  // A new file, whatever rights PHP has given to the copied one.
  await rm(file);
  await writeFile(file, copiedConfig(source, own, addresses), { mode: 0o600, flush: true });
}
