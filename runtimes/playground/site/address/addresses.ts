/** A copy of a site answers at another address: everywhere the old one stands, the new one must. */
import { DatabaseSync } from "node:sqlite";
import type { AddressChange } from "../../../runtime.ts";
import { siteTables } from "../database/tables.ts";
import { changeTexts } from "../replace/tableTexts.ts";
import { addressPattern, hostOf, markOf } from "./addressPattern.ts";

interface Pair {
  readonly from: URL;
  readonly to: URL;
}

function pairsOf(changes: readonly AddressChange[]): Pair[] {
  return changes.map(({ from, to }) => ({ from: new URL(from), to: new URL(to) }));
}

const endsAsEmail = /(?:@|%40)(?:[a-z0-9-]+\.)*$/i;

/** Long enough for any name that DNS allows. */
const longestName = 256;

function isEmail(text: string, end: number): boolean {
  return endsAsEmail.test(text.slice(Math.max(0, end - longestName), end));
}

/** How a colon is written beside these slashes: encoded as often as they are. */
function colonLike(slashes: string): string {
  return slashes.startsWith("%") ? `${slashes.slice(0, slashes.length / 2 - 2)}3A` : ":";
}

interface Replacement {
  readonly start: number;
  readonly text: string;
}

/** What stands in place of an address that was found, and from where on; null: it stays. */
function replacement(match: RegExpExecArray, pairs: readonly Pair[]): Replacement | null {
  const { scheme = "", colon = "", slashes = "", labels = "", host = "", portColon, port } = match.groups ?? {};
  const sameHost = pairs.filter(({ from }) => from.hostname === hostOf(host));
  const samePort = sameHost.filter(({ from }) => from.port === (port ?? ""));
  const sameScheme = samePort.find(({ from }) => from.protocol === `${scheme.toLowerCase()}:`);
  const whole = sameScheme ?? samePort[0];
  if (port === undefined && slashes === "" && isEmail(match.input, match.index)) return null;
  const start = match.index - `${scheme}${colon}${slashes}${labels}`.length;
  if (whole !== undefined) {
    const { protocol, hostname, port: newPort } = whole.to;
    const newScheme = scheme === "" ? "" : protocol.slice(0, -1);
    const ending = newPort === "" ? "" : `${portColon ?? (colon || colonLike(slashes))}${newPort}`;
    return { start, text: `${newScheme}${colon}${slashes}${labels}${hostname}${ending}` };
  }
  const [other] = sameHost;
  return port !== undefined || other === undefined ? null : { start: match.index, text: other.to.hostname };
}

/**
 * Makes the function that changes addresses in a text, in one pass: whatever the case, the scheme and the escaping,
 * without a scheme and, outside e-mail addresses, without the port; also of the hosts below. A host is changed as a
 * whole only. The text may have one character for each byte: hosts have no others.
 */
export function addressChanger(changes: readonly AddressChange[]): (text: string) => string {
  const pairs = pairsOf(changes);
  if (pairs.length === 0) return (text) => text;
  const pattern = addressPattern([...new Set(pairs.map(({ from }) => from.hostname))]);
  return (text) => {
    let result = "";
    let done = 0;
    for (const match of text.matchAll(pattern)) {
      const found = replacement(match, pairs);
      if (found === null) continue;
      result += text.slice(done, found.start) + found.text;
      done = match.index + match[0].length;
    }
    return result + text.slice(done);
  };
}

/**
 * Changes addresses in every text of the database, or of these tables, in one transaction. Nobody else may have the
 * file open. A text stays where the change would break a rule of its table, such as that no two are equal. `rows`:
 * how many were changed.
 */
export function changeAddresses(
  file: string,
  changes: readonly AddressChange[],
  tables?: readonly string[],
): { readonly rows: number } {
  if (changes.length === 0) return { rows: 0 };
  const change = addressChanger(changes);
  const marks = [...new Set(pairsOf(changes).map(({ from }) => markOf(from.hostname)))];
  // A key that changes in one table changes in all: none is checked, or changed with another, on the way.
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  try {
    database.exec("PRAGMA synchronous = FULL");
    database.exec("BEGIN IMMEDIATE");
    const wanted = siteTables(database).filter(({ name }) => tables?.includes(name) ?? true);
    const rows = wanted.reduce((sum, table) => sum + changeTexts(database, table, marks, change), 0);
    database.exec("COMMIT");
    return { rows };
  } finally {
    database.close();
  }
}
