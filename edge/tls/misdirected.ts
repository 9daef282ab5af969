/** Detects requests on a TLS connection that was opened for another name. */

import type { VisitorRequest } from "../http/visitorHttp.ts";
import { readHost } from "../tables/hosts.ts";

/**
 * Browsers reuse a connection for other names only if its certificate covers them. Other requests get a 421 (RFC 9110,
 * section 15.5.20), because the client has not verified the certificate of that site.
 */
export function isMisdirected(
  { socket }: Pick<VisitorRequest, "socket">,
  host: string,
  { sharesCertificate }: { readonly sharesCertificate: (shown: string, asked: string) => boolean },
): boolean {
  const { servername } = socket;
  const shown = typeof servername === "string" ? readHost(servername) : null;
  const asked = readHost(host);
  return shown === null || asked === null || !sharesCertificate(shown, asked);
}
