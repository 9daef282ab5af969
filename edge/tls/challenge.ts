/** Answers ACME HTTP challenges of certificate authorities (RFC 8555, section 8.3). */

import { hostOf, type VisitorRequest, type VisitorResponse } from "../http/visitorHttp.ts";
import { readHost } from "../tables/hosts.ts";
import type { EdgeTable } from "../tables/table.ts";

const folder = "/.well-known/acme-challenge/";

/**
 * Answers a challenge of the table, whether or not a site has the name. Returns false for all other requests: a plugin
 * of the site may order certificates too.
 */
export function answerChallenge(request: VisitorRequest, response: VisitorResponse, table: EdgeTable): boolean {
  const { url = "", method } = request;
  if (!url.startsWith(folder) || (method !== "GET" && method !== "HEAD")) return false;
  const host = readHost(hostOf(request));
  const token = url.slice(folder.length);
  const found = table.challenges?.find((challenge) => challenge.host === host && challenge.token === token);
  if (found === undefined) return false;
  const length = Buffer.byteLength(found.content);
  const headers = { "content-type": "application/octet-stream", "content-length": length, "cache-control": "no-store" };
  response.writeHead(200, headers).end(method === "HEAD" ? undefined : found.content);
  return true;
}
