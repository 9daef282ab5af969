/**
 * Recognises logged-in visitors, and keeps cookies where they belong: those of a site from other companies' sites, which may have names
 * below the same suffix, and the sessions of the console from sites on the same host, because browsers send cookies to all ports of a host.
 */

/** The console's cookies (`server/http/sessionCookies.ts`). */
const isSessionCookie = (pair: string): boolean => /^\s*=?\s*(__Host-)?sitewright(-sign-in)?\s*(=|$)/i.test(pair);

/**
 * PHP's headers, in which a cookie for the suffix of all sites, or for a domain above it, is a cookie of this host alone. Without those
 * that set a session of the console.
 */
export function withOwnCookies(
  headers: readonly (readonly [name: string, value: string])[],
  siteSuffix: string,
): (readonly [name: string, value: string])[] {
  return headers.flatMap(([name, value]) => {
    if (name.toLowerCase() !== "set-cookie") return [[name, value]];
    return isSessionCookie(value.split(";", 1)[0] ?? "") ? [] : [[name, ownCookie(value, siteSuffix)]];
  });
}

const loginCookie = /(?:^|;\s*)wordpress_logged_in_/;

/** Whether the sender may be logged in to WordPress. `cookie` is the Cookie header. */
export function hasLoginCookie(cookie: string | undefined): boolean {
  return loginCookie.test(cookie ?? "");
}

/** The cookie without its `Domain` if that covers all sites. */
function ownCookie(cookie: string, siteSuffix: string): string {
  const [first = "", ...attributes] = cookie.split(";");
  const own = attributes.filter((attribute) => {
    const [, domain] = /^\s*domain\s*=\s*\.?(.*?)\.?\s*$/i.exec(attribute) ?? [];
    return domain === undefined || !`.${siteSuffix}`.endsWith(`.${domain.toLowerCase()}`);
  });
  return [first, ...own].join(";");
}

/**
 * A visitor's headers for PHP without sessions of the console, and without cookies that another site below the suffix may have replaced.
 *
 * A script of one site can set a cookie for the whole suffix. The browser sends it to all sites, without saying whose it is
 * and, if it has a longer path, before the site's own cookie of that name, so that PHP takes it. Of a name with several
 * values none is passed on, because each may be the forged one. `hostName` is in lower case, without port.
 */
export function withoutForgedCookies<T extends { cookie?: string | readonly string[] }>(
  headers: T,
  hostName: string | null,
  siteSuffix: string,
): T {
  const { cookie } = headers;
  if (typeof cookie !== "string") return headers;
  const isShared = hostName !== null && `.${hostName}`.endsWith(`.${siteSuffix}`);
  if (!isShared && !cookie.includes("sitewright")) return headers;
  const pairs = cookie.split(";").flatMap((pair) => (isSessionCookie(pair) ? [] : pair.trim()));
  return { ...headers, cookie: (isShared ? unambiguous(pairs) : pairs).join("; ") };
}

/** The cookies whose names have a single value. */
function unambiguous(pairs: readonly string[]): readonly string[] {
  const values = new Map<string, Set<string>>();
  for (const pair of pairs) {
    const name = nameInPhp(pair);
    values.set(name, (values.get(name) ?? new Set()).add(cookieValue(pair)));
  }
  return pairs.filter((pair) => values.get(nameInPhp(pair))?.size === 1);
}

/** PHP replaces some characters, so that `a.b` shadows `a_b`. Browsers allow these names, also with a prefix like `__Host-`. */
function nameInPhp(pair: string): string {
  const [name = ""] = pair.split("=", 1);
  const bracket = name.indexOf("[");
  const variable = bracket === -1 || !name.includes("]", bracket) ? name : name.slice(0, bracket);
  return `${variable.trim().replaceAll(/[ .[+]/g, "_")}${name.slice(variable.length)}`;
}

function cookieValue(pair: string): string {
  const equals = pair.indexOf("=");
  return equals === -1 ? "" : pair.slice(equals + 1);
}
