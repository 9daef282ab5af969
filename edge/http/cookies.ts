/** Keeps the cookies of a site from other companies' sites, which may have names below the same suffix. */

/**
 * PHP's headers, in which a cookie for the suffix of all sites, or for a domain above it, is a cookie of this host alone.
 */
export function withOwnCookies(
  headers: readonly (readonly [name: string, value: string])[],
  siteSuffix: string,
): (readonly [name: string, value: string])[] {
  return headers.map(([name, value]) => [
    name,
    name.toLowerCase() === "set-cookie" ? ownCookie(value, siteSuffix) : value,
  ]);
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
