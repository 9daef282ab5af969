/** How a person reaches what listens. */

import { reachable } from "@sitewright/server/settings/edgeAddresses.ts";

/** An address that everyone on this machine may use to reach a server that listens on `host`. */
export function baseUrl(host: string, port: number): string {
  return `http://${reachable(host)}${port === 80 ? "" : `:${port}`}`;
}

/** Where a site of that name answers. */
export function siteUrl(site: string, suffix: string, port: number): string {
  return `http://${site}.${suffix}${port === 80 ? "" : `:${port}`}/`;
}
