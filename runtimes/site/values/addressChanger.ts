/** Replaces addresses in texts. */
import type { AddressChange } from "../../runtime.ts";
import { addressPattern, hostOf } from "./addressPattern.ts";

interface Pair {
  readonly from: URL;
  readonly to: URL;
}

function pairsOf(changes: readonly AddressChange[]): Pair[] {
  return changes.map(({ from, to }) => ({ from: new URL(from), to: new URL(to) }));
}

const endsAsEmail = /(?:@|%40)(?:[a-z0-9-]+\.)*$/i;

/** Long enough for any DNS name. */
const maxNameLength = 256;

function isEmail(text: string, end: number): boolean {
  return endsAsEmail.test(text.slice(Math.max(0, end - maxNameLength), end));
}

/** Returns a colon that is encoded like these slashes. */
function colonLike(slashes: string): string {
  return slashes.startsWith("%") ? `${slashes.slice(0, slashes.length / 2 - 2)}3A` : ":";
}

interface Replacement {
  readonly start: number;
  readonly text: string;
}

/** Returns the replacement of a match and where it starts, or null to keep the match. */
function replacement(match: RegExpExecArray, pairs: readonly Pair[]): Replacement | null {
  const { scheme = "", colon = "", slashes = "", labels = "", host = "", portColon, port } = match.groups ?? {};
  const sameHost = pairs.filter(({ from }) => from.hostname === hostOf(host));
  const samePort = sameHost.filter(({ from }) => from.port === (port ?? ""));
  const sameScheme = samePort.find(({ from }) => from.protocol === `${scheme.toLowerCase()}:`);
  const pair = sameScheme ?? samePort[0];
  if (port === undefined && slashes === "" && isEmail(match.input, match.index)) return null;
  const start = match.index - `${scheme}${colon}${slashes}${labels}`.length;
  if (pair !== undefined) {
    const { protocol, hostname, port: newPort } = pair.to;
    const newScheme = scheme === "" ? "" : protocol.slice(0, -1);
    const ending = newPort === "" ? "" : `${portColon ?? (colon || colonLike(slashes))}${newPort}`;
    return { start, text: `${newScheme}${colon}${slashes}${labels}${hostname}${ending}` };
  }
  const [other] = sameHost;
  return port !== undefined || other === undefined ? null : { start: match.index, text: other.to.hostname };
}

/**
 * Creates a function that replaces addresses in a text, in one pass: with any case, scheme and escaping, without a
 * scheme and, outside e-mail addresses, without the port, and in subdomains. A host is only replaced as a whole. The
 * text may have one character per byte: hosts are ASCII.
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
