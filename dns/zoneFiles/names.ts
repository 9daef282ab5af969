/** Names in zone files: relative ones, and ones as programs write them that are not name servers. */
import { domainToASCII } from "node:url";

/**
 * Returns the name with its final dot. A relative name that ends with one of `zones` only lacks the final dot: Cloudflare
 * writes its SOA record so, and people write `example.com` for `example.com.`. `zones` are in lower case, without the dot.
 */
export function absoluteName(written: string, origin: string, zones: readonly string[]): string {
  const name = toAsciiName(written);
  if (name === "@") return origin;
  // GoDaddy writes the name of an SRV record as `_sip._tls.@`.
  if (name.endsWith(".@")) return below(name.slice(0, -2), origin);
  if (name.endsWith(".")) return name;
  const lower = name.toLowerCase();
  if (zones.some((zone) => lower === zone || lower.endsWith(`.${zone}`))) return `${name}.`;
  return below(name, origin);
}

interface KnownNames {
  /** Whether there is such a name in the zone. */
  has(name: string): boolean;
  /** Whether a name could be in public DNS, by its last labels. */
  isPublic(name: string): boolean;
}

/**
 * The name in a value. Many programs forget the final dot of names outside the zone: `ghs.google.com` then means a name in the
 * zone that doesn't exist, so it is taken as it was meant.
 */
export function absoluteTarget(written: string, origin: string, zones: readonly string[], known: KnownNames): string {
  const name = absoluteName(written, origin, zones);
  const plain = toAsciiName(written);
  if (origin === "." || name !== below(plain, origin) || !known.isPublic(plain.toLowerCase())) return name;
  const relative = name.slice(0, -1).toLowerCase();
  return known.has(relative) || known.has(relative.replace(/^[^.]*/, "*")) ? name : `${plain}.`;
}

function below(name: string, origin: string): string {
  return origin === "." ? `${name}.` : `${name}.${origin}`;
}

/** Converts labels of other alphabets to A-labels. Invalid ones stay as they are. */
export function toAsciiName(name: string): string {
  if (/^[\x21-\x7e]*$/.test(name)) return name;
  return name
    .split(".")
    .map((label) => (/^[\x21-\x7e]*$/.test(label) ? label : domainToASCII(label) || label))
    .join(".");
}
