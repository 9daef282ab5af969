/** Redirects HTTP requests to HTTPS if the site requires it. */
import { findHost, readHost } from "../tables/hosts.ts";
import type { Routes } from "../tables/routes.ts";
import type { EdgeHost } from "../tables/table.ts";
import type { Visit } from "../visit/visit.ts";

const defaultPort = 443;

interface TlsListener {
  readonly routes: Routes;
  /** Null without TLS. */
  readonly publicTlsPort: () => number | null;
}

/**
 * Returns whether it sent a redirect. PHP's requests to its own site are not redirected. Requests that send data get a
 * 308, because browsers turn a POST into a GET after a 301.
 */
export function redirectToHttps(visit: Visit, { routes, publicTlsPort }: TlsListener): boolean {
  const port = publicTlsPort();
  if (visit.https || visit.fromPhp || port === null) return false;
  const name = readHost(visit.host);
  if (name === null) return false;
  const wanted = forceHttpsOf(routes.table().hosts, name);
  const target = wanted === "primary" ? visit.route.environment.primaryHost : name;
  if (wanted === undefined || target === undefined) return false;
  const { request, response, path } = visit;
  const reads = request.method === "GET" || request.method === "HEAD";
  const location = `https://${target}${port === defaultPort ? "" : `:${port}`}${path.url}`;
  response.writeHead(reads ? 301 : 308, { location, "content-length": 0, "cache-control": "no-cache" }).end();
  return true;
}

const indexes = new WeakMap<readonly EdgeHost[], ReadonlyMap<string, string>>();

function forceHttpsOf(hosts: readonly EdgeHost[], name: string): string | undefined {
  const index = indexes.get(hosts) ?? new Map(hosts.map((host) => [host.name.toLowerCase(), host.forceHttps ?? "no"]));
  indexes.set(hosts, index);
  const wanted = findHost(index, name);
  return wanted === null || wanted === "no" ? undefined : wanted;
}
