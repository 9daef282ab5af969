/** URLs of the API and of sites, as printed in the terminal. */

import { urlHost } from "@sitewright/server/settings/edgeAddresses.ts";

/** URL, as seen from this machine, of a server that listens on `host`. */
export function baseUrl(host: string, port: number): string {
  return `http://${urlHost(host)}${port === 80 ? "" : `:${port}`}`;
}

/** URL of the site with the given name. */
export function siteUrl(site: string, suffix: string, port: number): string {
  return `http://${site}.${suffix}${port === 80 ? "" : `:${port}`}/`;
}
