/**
 * Redirect rules at the edge: before pages, files and PHP. A list of rules is read and made ready when a visitor first
 * asks for its environment, and kept for as long as a table names it, so that a new table costs nothing.
 */
import { addressOf } from "./http/address.ts";
import type { VisitorPath } from "./http/path.ts";
import { hasBody } from "./http/uploads.ts";
import type { EdgeLog } from "./log.ts";
import { isLoginLink } from "./login/login.ts";
import { createRedirects, leadsToItself, type Redirects } from "./redirects/redirects.ts";
import { type Asked, nowhere, type RedirectRule, type VisitorLocation } from "./redirects/rule.ts";
import { readHost } from "./tables/hosts.ts";
import type { EdgeEnvironment } from "./tables/table.ts";
import type { Visit } from "./visit.ts";

export interface RedirectSources {
  /** The rules of a list that a table names. Rejects if there is none. */
  readonly read: (list: string) => Promise<readonly RedirectRule[]>;
  /** Finds the location of an address. Absent: unknown. */
  readonly placeOf?: (address: string) => VisitorLocation;
}

/** Whether a rule has answered. */
export type RedirectVisit = (visit: Visit) => boolean | Promise<boolean>;

export interface RedirectVisits {
  readonly redirectVisit: RedirectVisit;
  /** Lets go of the lists that none of the environments has. */
  keep(environments: readonly EdgeEnvironment[]): void;
}

export function createRedirectVisits(sources: RedirectSources | null, log: EdgeLog): RedirectVisits {
  // Null: it could not be read. It is tried again when the next table comes.
  const lists = new Map<string, Redirects | null | Promise<Redirects | null>>();

  async function load(list: string, read: RedirectSources["read"]): Promise<Redirects | null> {
    try {
      const redirects = createRedirects(await read(list));
      lists.set(list, redirects);
      return redirects;
    } catch (err) {
      log.error({ err, list }, "A list of redirect rules can't be read; the site is served without");
      lists.set(list, null);
      return null;
    }
  }

  function listOf(list: string, { read }: RedirectSources) {
    const known = lists.get(list);
    if (known !== undefined) return known;
    const loading = load(list, read);
    lists.set(list, loading);
    return loading;
  }

  return {
    redirectVisit(visit) {
      const list = visit.route.environment.redirectRules;
      // What PHP asks of its own site, and links for those who are logged in, are no matter of rules for visitors.
      if (list === undefined || sources === null || visit.fromPhp || isLoginLink(visit)) return false;
      const redirects = listOf(list, sources);
      if (redirects instanceof Promise) return redirects.then((loaded) => apply(visit, loaded, sources));
      return apply(visit, redirects, sources);
    },
    keep(environments) {
      const named = new Set(environments.map(({ redirectRules }) => redirectRules));
      for (const [list, redirects] of lists) if (redirects === null || !named.has(list)) lists.delete(list);
    },
  };
}

function apply(visit: Visit, redirects: Redirects | null, { placeOf }: RedirectSources): boolean {
  const { request, response, host, https, path } = visit;
  const name = readHost(host);
  if (redirects === null || name === null || response.destroyed) return false;
  const place = () => placeOf?.(addressOf({ socket: request.socket, fromPhp: false })) ?? nowhere;
  const asked: Asked = {
    scheme: https ? "https" : "http",
    host: name,
    path: pathOf(path),
    query: path.query,
    place,
  };
  const redirect = redirects.find(asked);
  if (redirect === null || leadsToItself(redirect, asked)) return false;
  const close: Readonly<Record<string, string>> = hasBody(request) ? { connection: "close" } : {};
  response.writeHead(redirect.status, { location: redirect.location, "content-length": 0, ...close }).end();
  return true;
}

function pathOf({ segments, trailingSlash }: VisitorPath): string {
  return segments.length === 0 ? "/" : `/${segments.join("/")}${trailingSlash ? "/" : ""}`;
}
