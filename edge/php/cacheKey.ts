/**
 * Decides which concurrent requests may share one PHP response: requests for the same page by browsers without cookies
 * of the site.
 *
 * WordPress and its plugins can react to anything that a visitor sends. So a request with an unusual header is never
 * shared, and what plugins do look at in ordinary requests (device, languages, accepted types) is part of the key. The
 * response's headers then tell whether it is private (RFC 9111, section 3).
 */
import type { IncomingHttpHeaders } from "node:http";
import { toUpstream } from "../http/headers.ts";
import { hasWordPress } from "../tables/hasWordPress.ts";
import type { Visit } from "../visit/visit.ts";
import type { Script } from "./script.ts";
import type { UpstreamResponse } from "./upstream.ts";

export interface CacheKey {
  readonly environmentId: string;
  /** The same text for the same request to the same release. */
  readonly text: string;
}

/** Headers that every browser sends. Pages don't depend on them, or only on what is part of the key. */
const ordinaryHeaders = new Set([
  ...["host", "accept", "accept-encoding", "accept-language", "user-agent", "upgrade-insecure-requests", "priority"],
  ...["sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user"],
  ...["sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"],
]);

/** How WordPress recognises mobile devices, for which themes may render different pages. */
const mobileUserAgent = /Mobile|Android|Silk\/|Kindle|BlackBerry|Opera Mini|Opera Mobi/;

/** The script that answers every URL that is neither a file nor another script. */
export const frontController = "/index.php";

/** Requests with longer keys are unusual. They are not shared, to save memory. */
const maxKeyLength = 1_000;

/** Null if the request can't share a response. Only for requests that don't write (`mayWrite`). */
export function cacheKeyOf({ request, route, path, host, fromPhp, https }: Visit, script: Script): CacheKey | null {
  const { id, release, phpVersion, phpRestarts = 0 } = route.environment;
  // Other PHP scripts may depend on anything.
  if (!hasWordPress(route.environment) || script.script !== frontController) return null;
  if (request.method !== "GET" || fromPhp || path.query !== "") return null;
  const headers = toUpstream(request, host);
  if (!Object.keys(headers).every((name) => ordinaryHeaders.has(name))) return null;
  // Without the header, any language is acceptable.
  const language = headers["accept-language"] ?? "*";
  const mobile = isMobile(request.headers);
  const parts = [
    id,
    release,
    phpVersion,
    phpRestarts,
    https,
    host,
    path.url,
    headers.accept ?? "*/*",
    language,
    mobile,
  ];
  const text = JSON.stringify(parts);
  return text.length > maxKeyLength ? null : { environmentId: id, text };
}

/** Whether WordPress would treat the client as a phone or tablet. */
export function isMobile(headers: IncomingHttpHeaders): boolean {
  return headers["sec-ch-ua-mobile"] === "?1" || mobileUserAgent.test(headers["user-agent"] ?? "");
}

/** A response with one of these headers is private, encoded, or has an old-style lifetime. */
const privateHeaders = new Set(["set-cookie", "content-encoding", "pragma", "expires", "www-authenticate"]);
const privateCacheControl = /no-store|no-cache|private|revalidate|max-?age\s*=\s*"?0/i;

/** Whether concurrent identical requests may share this answer. */
export function isShareable({ status, headers }: Pick<UpstreamResponse, "status" | "headers">): boolean {
  return status === 200 && headers.every(([name, value]) => allows(name.toLowerCase(), value));
}

function allows(name: string, value: string): boolean {
  if (privateHeaders.has(name)) return false;
  if (name === "cache-control") return !privateCacheControl.test(value);
  return name !== "vary" || /^\s*accept-encoding\s*$/i.test(value);
}
