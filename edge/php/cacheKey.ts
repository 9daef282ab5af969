/**
 * What a request asks PHP for, where many may ask the same: a page, as every browser asks for it that has no cookie of
 * the site. And whether PHP's answer to one of them is an answer to all.
 *
 * WordPress and its plugins decide by whatever a visitor sends. So a request with anything out of the ordinary asks for
 * itself alone, and what plugins do look at in ordinary ones (the device, the languages, the forms of an answer) is part
 * of the question. PHP in turn says in the answer's headers what is for one visitor only (RFC 9111, section 3).
 */
import type { IncomingHttpHeaders } from "node:http";
import { toUpstream } from "../http/headers.ts";
import type { Visit } from "../visit.ts";
import type { Script } from "./script.ts";
import type { UpstreamResponse } from "./upstream.ts";

export interface CacheKey {
  readonly environmentId: string;
  /** The same text for the same request to the same release. */
  readonly text: string;
}

/** Every browser sends them, and no page depends on them, or only as the question says. */
const ordinary = new Set([
  ...["host", "accept", "accept-encoding", "accept-language", "user-agent", "upgrade-insecure-requests", "priority"],
  ...["sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user"],
  ...["sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"],
]);

/** By these names WordPress itself knows small devices, for which themes may have other pages. */
const smallDevice = /Mobile|Android|Silk\/|Kindle|BlackBerry|Opera Mini|Opera Mobi/;

/** WordPress's own entrance for everything that has an address of its own. */
export const frontController = "/index.php";

/** Longer queries are unusual, and must not push others out of memory. */
const longestText = 1_000;

/** Null if the request is for itself alone. It must be one that can't write (`mayWrite`). */
export function cacheKeyOf({ request, route, path, host, fromPhp, https }: Visit, script: Script): CacheKey | null {
  const { id, release, phpVersion, phpRun = 0, overlays } = route.environment;
  // Of what else people write in PHP, nobody knows by what its pages differ.
  if (!("wp-includes" in overlays) || script.script !== frontController) return null;
  if (request.method !== "GET" || fromPhp || path.query !== "") return null;
  const headers = toUpstream(request, host);
  if (!Object.keys(headers).every((name) => ordinary.has(name))) return null;
  // Any language is what nobody asks for in words.
  const language = headers["accept-language"] ?? "*";
  const isSmall = isSmallDevice(request.headers);
  const parts = [id, release, phpVersion, phpRun, https, host, path.url, headers.accept ?? "*/*", language, isSmall];
  const text = JSON.stringify(parts);
  return text.length > longestText ? null : { environmentId: id, text };
}

/** Whether WordPress would take it for a telephone or a tablet. */
export function isSmallDevice(headers: IncomingHttpHeaders): boolean {
  return headers["sec-ch-ua-mobile"] === "?1" || smallDevice.test(headers["user-agent"] ?? "");
}

/** With one of these an answer is for the one who asked, or says in an older way for how long it is for others. */
const forOneOnly = new Set(["set-cookie", "content-encoding", "pragma", "expires", "www-authenticate"]);
const notForAll = /no-store|no-cache|private|revalidate|max-?age\s*=\s*"?0/i;

/** Whether concurrent identical requests may share this answer. */
export function isForAll({ status, headers }: Pick<UpstreamResponse, "status" | "headers">): boolean {
  return status === 200 && headers.every(([name, value]) => allows(name.toLowerCase(), value));
}

function allows(name: string, value: string): boolean {
  if (forOneOnly.has(name)) return false;
  if (name === "cache-control") return !notForAll.test(value);
  return name !== "vary" || /^\s*accept-encoding\s*$/i.test(value);
}
