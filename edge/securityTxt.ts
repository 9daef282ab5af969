/**
 * `/.well-known/security.txt` at names that belong to no site, such as the machine's own. At a site's name the file is the
 * site's, because the installation can't speak for its owner.
 */
import { pageHeaders } from "./http/pages.ts";
import type { VisitorRequest, VisitorResponse } from "./http/visitorHttp.ts";
import type { EdgeParts } from "./parts.ts";
import type { FoundRoute, NoRoute } from "./tables/findRoute.ts";

/** Sends the file if it is requested. Returns whether it was. */
export function answerSecurityTxt(
  { method, url = "" }: VisitorRequest,
  response: VisitorResponse,
  found: FoundRoute | NoRoute,
  { securityTxt }: Pick<EdgeParts, "securityTxt">,
): boolean {
  if (securityTxt === null || found !== "unknownHost" || url !== "/.well-known/security.txt") return false;
  if (method !== "GET" && method !== "HEAD") return false;
  const body = securityTxt();
  response.writeHead(200, pageHeaders("text/plain; charset=utf-8", body)).end(method === "HEAD" ? undefined : body);
  return true;
}
