/**
 * Applies redirect rules, before cached pages, files and PHP. A list of rules is loaded at the first request to its
 * environment and kept while the table names it, so that a new table costs nothing.
 */
import type { VisitorPath } from "./http/path.ts";
import { hasBody } from "./http/uploads.ts";
import { isLoginLink } from "./login/login.ts";
import type { EdgeLog } from "./logs/edgeLog.ts";
import { createRedirects, isSelfRedirect, type Redirects } from "./redirects/redirects.ts";
import { nowhere, type RedirectRule, type RequestedUrl, type VisitorLocation } from "./redirects/rule.ts";
import { readHost } from "./tables/hosts.ts";
import type { EdgeEnvironment } from "./tables/table.ts";
import type { Visit } from "./visit/visit.ts";

export interface RedirectSources {
  /** Reads a list of rules that the table names. Rejects if it doesn't exist. */
  readonly read: (list: string) => Promise<readonly RedirectRule[]>;
  /** Finds the location of an IP address. Absent: locations are unknown. */
  readonly placeOf?: (address: string) => VisitorLocation;
}

/** Redirects a visit if a rule matches. Returns whether it did. */
export type RedirectVisit = (visit: Visit) => boolean | Promise<boolean>;

interface RedirectVisits {
  readonly redirectVisit: RedirectVisit;
  /** Drops lists that none of these environments use. */
  retain(environments: readonly EdgeEnvironment[]): void;
}

export function createRedirectVisits(sources: RedirectSources | null, log: EdgeLog): RedirectVisits {
  // Null: the list could not be read. The next table causes a retry.
  const lists = new Map<string, Redirects | null | Promise<Redirects | null>>();

  async function load(list: string, read: RedirectSources["read"]): Promise<Redirects | null> {
    try {
      const redirects = createRedirects(await read(list));
      lists.set(list, redirects);
      return redirects;
    } catch (err) {
      log.error({ err, list }, "Could not read a list of redirect rules; the site is served without it");
      lists.set(list, null);
      return null;
    }
  }

  function getList(list: string, { read }: RedirectSources) {
    const known = lists.get(list);
    if (known !== undefined) return known;
    const loading = load(list, read);
    lists.set(list, loading);
    return loading;
  }

  return {
    redirectVisit(visit) {
      const list = visit.route.environment.redirectRules;
      // Rules don't apply to PHP's requests to its own site and to login links.
      if (list === undefined || sources === null || visit.fromPhp || isLoginLink(visit)) return false;
      const redirects = getList(list, sources);
      if (redirects instanceof Promise) return redirects.then((loaded) => apply(visit, loaded, sources));
      return apply(visit, redirects, sources);
    },
    retain(environments) {
      const named = new Set(environments.map(({ redirectRules }) => redirectRules));
      for (const [list, redirects] of lists) if (redirects === null || !named.has(list)) lists.delete(list);
    },
  };
}

function apply(visit: Visit, redirects: Redirects | null, { placeOf }: RedirectSources): boolean {
  const { request, response, address, host, https, path } = visit;
  const name = readHost(host);
  if (redirects === null || name === null || response.destroyed) return false;
  const location = () => placeOf?.(address) ?? nowhere;
  const requested: RequestedUrl = {
    scheme: https ? "https" : "http",
    host: name,
    path: pathOf(path),
    query: path.query,
    place: location,
  };
  const redirect = redirects.find(requested);
  if (redirect === null || isSelfRedirect(redirect, requested)) return false;
  const connection: Readonly<Record<string, string>> = hasBody(request) ? { connection: "close" } : {};
  response.writeHead(redirect.status, { location: redirect.location, "content-length": 0, ...connection }).end();
  return true;
}

function pathOf({ segments, trailingSlash }: VisitorPath): string {
  return segments.length === 0 ? "/" : `/${segments.join("/")}${trailingSlash ? "/" : ""}`;
}
