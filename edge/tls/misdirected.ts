/** Detects requests on a TLS connection that was opened for another name. */

import { addressOf } from "../http/address.ts";
import type { TrustedProxies } from "../http/trustedProxies.ts";
import type { VisitorRequest } from "../http/visitorHttp.ts";
import { readHost } from "../tables/hosts.ts";

interface MisdirectedParts {
  readonly sharesCertificate: (shown: string, asked: string) => boolean;
  readonly trustedProxies: TrustedProxies;
}

/**
 * Browsers reuse a connection for other names only if its certificate covers them. Other requests get a 421 (RFC 9110,
 * section 15.5.20), because the client has not verified the certificate of that site. A trusted proxy may use a connection for all
 * names: its visitors verify its own certificates.
 */
export function isMisdirected(
  { socket }: Pick<VisitorRequest, "socket">,
  host: string,
  { sharesCertificate, trustedProxies }: MisdirectedParts,
): boolean {
  if (trustedProxies.has(addressOf(socket))) return false;
  const { servername } = socket;
  const shown = typeof servername === "string" ? readHost(servername) : null;
  const asked = readHost(host);
  return shown === null || asked === null || !sharesCertificate(shown, asked);
}
