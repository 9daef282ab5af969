/** Requests on connections that were begun with another name. */

import type { VisitorRequest } from "../http/visitorHttp.ts";
import { readHost } from "../tables/hosts.ts";

/**
 * Browsers ask for several names on one connection where its certificate is for all of them, and no others (RFC 9110,
 * section 15.5.20): whoever was shown another site's certificate has not been told whom they are talking to.
 */
export function isMisdirected(
  { socket }: Pick<VisitorRequest, "socket">,
  host: string,
  { areTogether }: { readonly areTogether: (shown: string, asked: string) => boolean },
): boolean {
  const { servername } = socket;
  const shown = typeof servername === "string" ? readHost(servername) : null;
  const asked = readHost(host);
  // Nobody shakes hands without a name; Node does not know it any more of who comes back by TLS 1.2.
  if (shown === null) return false;
  return asked === null || !areTogether(shown, asked);
}
