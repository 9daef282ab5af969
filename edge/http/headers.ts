/** Which headers pass through the edge, in both directions. */
import { type IncomingHttpHeaders, validateHeaderName, validateHeaderValue } from "node:http";

/** They are about one connection and mean nothing on the next (RFC 9110, section 7.6.1). */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * What a visitor could use to pass for another: WordPress and its plugins believe these about address, scheme and
 * path. `proxy` becomes HTTP_PROXY, which programs take for a setting.
 */
const untrusted = new Set([
  "forwarded",
  "proxy",
  "x-real-ip",
  "client-ip",
  "true-client-ip",
  "x-original-url",
  "x-rewrite-url",
]);
const untrustedPrefixes = ["x-forwarded-", "x-cluster-", "cf-"];

/** The first is PHP's way of naming the status, the second tells attackers its version. */
const fromPhpOnly = new Set(["status", "x-powered-by"]);

/** The visitor's headers as PHP may see them, with `host` as the one that was routed by. */
export function toUpstream(
  message: { readonly headers: IncomingHttpHeaders },
  host: string,
): Record<string, string | readonly string[]> {
  const perConnection = namedByConnection(message.headers.connection);
  const headers: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(message.headers)) {
    if (value === undefined || hopByHop.has(name) || perConnection.has(name) || isUntrusted(name)) continue;
    headers[name] = value;
  }
  headers.host = host;
  return headers;
}

/** PHP's headers as the visitor may see them, flat: name, value, name, value. */
export function toVisitor(headers: readonly (readonly [name: string, value: string])[]): string[] {
  const perConnection = namedByConnection(headers.find(([name]) => name.toLowerCase() === "connection")?.[1]);
  const lengths = headers.filter(([name]) => name.toLowerCase() === "content-length");
  // Of two lengths, the next one to read them may believe either.
  const hasLength = lengths.length === 1 && lengths.every(([, value]) => /^\d+$/.test(value));
  return headers.flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (hopByHop.has(lower) || perConnection.has(lower) || fromPhpOnly.has(lower)) return [];
    if (lower === "content-length" && !hasLength) return [];
    const sendable = asBytes(name, value);
    return sendable === null ? [] : [name, sendable];
  });
}

/** A header named `x_forwarded_for` would reach PHP under the same name as `x-forwarded-for`; `:path` is none at all. */
function isUntrusted(name: string): boolean {
  return (
    name.startsWith(":") ||
    name.includes("_") ||
    untrusted.has(name) ||
    untrustedPrefixes.some((prefix) => name.startsWith(prefix))
  );
}

function namedByConnection(value: string | undefined): ReadonlySet<string> {
  if (value === undefined) return new Set();
  return new Set(value.split(",").map((name) => name.trim().toLowerCase()));
}

/** WordPress writes UTF-8 into headers (`Location`); Node wants one character per byte. Null if it can't be sent. */
function asBytes(name: string, value: string): string | null {
  for (const candidate of [value, Buffer.from(value, "utf8").toString("latin1")]) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, candidate);
      return candidate;
    } catch {
      // The other spelling may do.
    }
  }
  return null;
}
