/** Pattern that finds an address in every form that WordPress, plugins and people write. */

/** A colon, plain or percent-encoded one or more times. */
const colon = "(?::|%(?:25){0,4}3A)";

/**
 * A slash, plain, percent-encoded or escaped as in JSON, one or more times; block attributes write backslashes as
 * `\u005c`.
 */
const slash = String.raw`(?:(?:\\{1,15}u005c|\\){0,15}/|%(?:25){0,4}2F)`;

/** `https://` or `//`, and labels before the host, as in the addresses of a network's sites. */
const scheme = String.raw`(?:(?<scheme>https?)(?<colon>${colon}))?(?<slashes>${slash}{2})(?<labels>(?:[\w-]{1,63}\.){0,10}?)`;

/** The beginning of a name: not inside another name, but possibly after an escape sequence that ends with a letter. */
const begin = String.raw`(?:(?<![a-z0-9-])|(?<=\\[nrtbf]|\\u(?!002d)[0-9a-f]{4}|%(?:25){0,4}(?!2d|40|25)[0-9a-f]{2}))`;

const end = String.raw`(?![a-z0-9-]|\.[\w-]|${colon}\d|\\{1,15}u002d)`;

/** Block attributes escape two hyphens, because HTML comments can't contain them. */
const escapedHyphens = String.raw`(?:\\{1,15}u002d){2}`;

function hostPattern(hostname: string): string {
  return hostname.replace(/[.[\]]/g, "\\$&").replaceAll("--", `(?:--|${escapedHyphens})`);
}

/** Returns the plain host name of a matched host. */
export function hostOf(found: string): string {
  return found.replace(new RegExp(escapedHyphens, "gi"), "--").toLowerCase();
}

/** Returns a text that every form of the host contains, ignoring case. */
export function markOf(hostname: string): string {
  return hostname.split("--").reduce((longest, part) => (part.length > longest.length ? part : longest));
}

/**
 * Creates the pattern; `hostnames` are in lower case. A match begins with the host, because a search for anything
 * before it would stop at every slash. The groups `scheme`, `colon`, `slashes` and `labels` precede the match in this
 * order; `host`, `portColon` and `port` are within it.
 */
export function addressPattern(hostnames: readonly string[]): RegExp {
  const longestFirst = hostnames.toSorted((one, other) => other.length - one.length).map(hostPattern);
  const host = `(?:${longestFirst.join("|")})`;
  const port = String.raw`(?<portColon>${colon})(?<port>\d+)(?!\d)`;
  return new RegExp(`(?<host>${host})(?<=(?:${scheme}|${begin})\\k<host>)(?:${port}|${end})`, "gi");
}
