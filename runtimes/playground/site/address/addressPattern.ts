/** Finds an address in every form in which WordPress, its plugins and people write it down. */

/** As such, or percent-encoded, once or more. */
const colon = "(?::|%(?:25){0,4}3A)";

/** The same, or with the backslashes of JSON, once or more; block attributes have them by their number. */
const slash = String.raw`(?:(?:\\{1,15}u005c|\\){0,15}/|%(?:25){0,4}2F)`;

/** `https://` or `//`, and the names before the host: a network gives its sites such addresses. */
const scheme = String.raw`(?:(?<scheme>https?)(?<colon>${colon}))?(?<slashes>${slash}{2})(?<labels>(?:[\w-]{1,63}\.){0,10}?)`;

/** Where a name begins: not in the middle of another one, but after an escaped character that ends with a letter. */
const begin = String.raw`(?:(?<![a-z0-9-])|(?<=\\[nrtbf]|\\u(?!002d)[0-9a-f]{4}|%(?:25){0,4}(?!2d|40|25)[0-9a-f]{2}))`;

const end = String.raw`(?![a-z0-9-]|\.[\w-]|${colon}\d|\\{1,15}u002d)`;

/** Block attributes don't hold two hyphens, because HTML's comments don't. */
const escapedHyphens = String.raw`(?:\\{1,15}u002d){2}`;

function hostPattern(hostname: string): string {
  return hostname.replace(/[.[\]]/g, "\\$&").replaceAll("--", `(?:--|${escapedHyphens})`);
}

/** The host as an address has it, of a host as it was found. */
export function hostOf(found: string): string {
  return found.replace(new RegExp(escapedHyphens, "gi"), "--").toLowerCase();
}

/** Contained in every form of the host, whatever the case. */
export function markOf(hostname: string): string {
  return hostname.split("--").reduce((longest, part) => (part.length > longest.length ? part : longest));
}

/**
 * `hostnames` in lower case. A match begins with the host, because a search for anything before it would stop at every
 * slash of a text; the groups `scheme`, `colon`, `slashes` and `labels` stand, in this order, before the match.
 * Within it: `host`, `portColon`, `port`.
 */
export function addressPattern(hostnames: readonly string[]): RegExp {
  const longestFirst = hostnames.toSorted((one, other) => other.length - one.length).map(hostPattern);
  const host = `(?:${longestFirst.join("|")})`;
  const port = String.raw`(?<portColon>${colon})(?<port>\d+)(?!\d)`;
  return new RegExp(`(?<host>${host})(?<=(?:${scheme}|${begin})\\k<host>)(?:${port}|${end})`, "gi");
}
