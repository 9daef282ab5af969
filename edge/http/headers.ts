/** Filters headers, from visitors to PHP and back. */
import { type IncomingHttpHeaders, validateHeaderName, validateHeaderValue } from "node:http";

/** They concern a single connection (RFC 9110, section 7.6.1). */
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
 * Headers with which a visitor could spoof an IP address, a scheme or a path, because WordPress and plugins trust them.
 * `proxy` would become HTTP_PROXY, which programs read as a setting.
 */
const untrusted = new Set(["forwarded", "proxy", "x-original-url", "x-rewrite-url", "x-host", "x-original-host"]);
const untrustedPrefixes = ["x-forwarded-", "x-cluster-", "cf-", "x-sitewright-"];
/** `X-Real-IP`, `Fastly-Client-IP`, `Incap-Client-IP`, `X-Sucuri-ClientIP`, `X-URL-Scheme`, `Front-End-HTTPS`. Not `Sec-…`. */
const untrustedEndings = /^(?!sec-).*(?:-ip|clientip|scheme|https|-ssl)$/;

/** Whether a login succeeded, from the platform's PHP (`runtimes/platform/logins.php`). */
export const loginHeader = "x-sitewright-login";
/** The percent-encoded name of its user, if the site has one of that name. */
export const loginUserHeader = "x-sitewright-login-user";

/** `status` is how PHP reports the status; `x-powered-by` would reveal its version to attackers. */
const fromPhpOnly = new Set(["status", "x-powered-by", loginHeader, loginUserHeader]);

/** The visitor's headers for PHP, with the `host` that was used for routing. */
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

/** PHP's headers for the visitor: name, value, name, value. */
export function toVisitor(headers: readonly (readonly [name: string, value: string])[]): string[] {
  const perConnection = namedByConnection(headers.find(([name]) => name.toLowerCase() === "connection")?.[1]);
  const lengths = headers.filter(([name]) => name.toLowerCase() === "content-length");
  // Clients and proxies may disagree on which of two lengths is valid.
  const hasLength = lengths.length === 1 && lengths.every(([, value]) => /^\d+$/.test(value));
  return headers.flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (hopByHop.has(lower) || perConnection.has(lower) || fromPhpOnly.has(lower)) return [];
    if (lower === "content-length" && !hasLength) return [];
    const sendable = asBytes(name, value);
    return sendable === null ? [] : [name, sendable];
  });
}

/**
 * Underscores are refused because PHP sees `x_forwarded_for` as `x-forwarded-for`. Names such as `:path` are HTTP/2's.
 */
function isUntrusted(name: string): boolean {
  return (
    name.startsWith(":") ||
    name.includes("_") ||
    untrusted.has(name) ||
    untrustedEndings.test(name) ||
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
      // Try the next candidate.
    }
  }
  return null;
}

/** A flat list of names and values without the headers of the body, as a 304 response has them. */
export function withoutContentHeaders(head: readonly string[]): readonly string[] {
  return head.filter((_, at) => !/^content-/i.test(head[at - (at % 2)] ?? ""));
}
