/**
 * Decides what a URL means in WordPress. Implements the rewrite rules of its handbook.
 *
 * An existing file is sent, an existing script is run (the rest of the path is its PATH_INFO), a folder means its
 * index, and everything else goes to `/index.php`. In a subdirectory network, the site's folder comes first:
 * `/blog/wp-admin/` is `/wp-admin/` of the site "blog".
 */

import { encodePath, type VisitorPath } from "../http/path.ts";
import { isRestPath } from "../http/restPath.ts";
import type { FileVersion, FoundFile, LookUp } from "../tables/fileLookup.ts";
import type { EdgeEnvironment } from "../tables/table.ts";
import { type Access, access } from "./access/access.ts";
import { isForbidden, isForbiddenFile, isRunnable, isScriptName, isUpload } from "./forbidden.ts";

type Decision =
  | {
      readonly kind: "static";
      readonly file: string;
      readonly version: FileVersion;
      /** Whether it may come from a visitor. */
      readonly isUpload: boolean;
    }
  | { readonly kind: "php"; readonly script: string; readonly pathInfo: string }
  | { readonly kind: "redirect"; readonly location: string }
  | { readonly kind: "refuse" };

const frontController: Decision = { kind: "php", script: "/index.php", pathInfo: "" };
const refuse: Decision = { kind: "refuse" };
const siteFolder = /^[\w-]+$/;
const commonFolder = /^wp-(?:content|admin|includes)/;
/** Types that browsers and proxies take from the end of the path, and may keep for everyone. */
const staticName =
  /\.(?:css|m?js|map|json|txt|csv|xml|pdf|zip|gz|jpe?g|png|gif|svg|webp|avif|ico|bmp|woff2?|ttf|otf|eot|mp[34]|webm|ogg)$/i;

/** A site, as far as it decides what a URL means. */
export interface ResolvedSite extends Pick<EdgeEnvironment, "multisite"> {
  /** The requested host name. */
  readonly host: string;
  /** The access that the site's `.htaccess` files give to a file. Absent for the platform, which needs its scripts. */
  accessTo?(requested: readonly string[], real: readonly string[]): Promise<Access>;
}

/** Calls `lookUp` as rarely as possible: once for a pretty permalink, not at all for the front page. */
export async function resolve(path: VisitorPath, site: ResolvedSite, lookUp: LookUp): Promise<Decision> {
  // Routes of the REST API may end like file names. Files below it are checked when they are found.
  if (isForbidden(path.segments) && !isRestPath(path.segments)) return refuse;
  if (!path.isUtf8) return frontController;
  for (const segments of candidatePaths(path.segments, site.multisite)) {
    const decision = await decide(path, segments, site, lookUp);
    if (decision !== null) return decision;
  }
  return frontController;
}

/** The path itself and, in a subdirectory network, the path without the site's folder. */
function candidatePaths(
  segments: readonly string[],
  multisite: EdgeEnvironment["multisite"],
): readonly (readonly string[])[] {
  const [first, ...rest] = segments;
  if (first === undefined) return [];
  if (multisite !== "subdirectory" || !siteFolder.test(first)) return [segments];
  const isCommon = commonFolder.test(rest[0] ?? "") || rest.some(isScriptName);
  return isCommon ? [segments, rest] : [segments];
}

/** Null if the path doesn't exist. */
async function decide(
  path: VisitorPath,
  segments: readonly string[],
  site: ResolvedSite,
  lookUp: LookUp,
): Promise<Decision | null> {
  for (const [index, segment] of segments.entries()) {
    if (!isScriptName(segment)) continue;
    const script = segments.slice(0, index + 1);
    if (!isRunnable(script)) return refuse;
    const found = await lookUp(script);
    if (found === null) return null;
    if (found.kind === "file") return run(script, found, pathInfo(path, segments.slice(index + 1)), site);
  }
  const found = await lookUp(segments);
  if (found === null) return null;
  if (isForbidden(segments)) return refuse;
  if (found.kind === "directory") return decideDirectory(path, segments, site, lookUp);
  return path.trailingSlash ? null : send(segments, found, site);
}

async function decideDirectory(
  path: VisitorPath,
  segments: readonly string[],
  site: ResolvedSite,
  lookUp: LookUp,
): Promise<Decision | null> {
  const index = await findIndex(segments, site, lookUp);
  if (index === null) return null;
  if (path.trailingSlash) return index;
  return { kind: "redirect", location: `${encodePath(path.segments)}/${path.query}` };
}

async function findIndex(segments: readonly string[], site: ResolvedSite, lookUp: LookUp): Promise<Decision | null> {
  const script = [...segments, "index.php"];
  if (isRunnable(script)) {
    const found = await lookUp(script);
    if (found?.kind === "file") return run(script, found, "", site);
  }
  const page = [...segments, "index.html"];
  const found = await lookUp(page);
  return found?.kind === "file" ? send(page, found, site) : null;
}

async function run(
  script: readonly string[],
  found: FoundFile,
  pathInfo: string,
  site: ResolvedSite,
): Promise<Decision> {
  if ([script, found.segments].some(isForbidden) || !isRunnable(found.segments)) return refuse;
  // `/wp-admin/profile.php/x.css` would look like a file that may be cached. WordPress itself checks paths of index.php.
  if (staticName.test(pathInfo) && script.join("/") !== "index.php") return refuse;
  const isFront = script.join("/") === "index.php";
  // Someone who may log in only from some addresses on another server must still be able to here.
  if (!isFront && (await site.accessTo?.(script, found.segments)) === access.closed) return refuse;
  return { kind: "php", script: `/${script.join("/")}`, pathInfo };
}

async function send(requested: readonly string[], found: FoundFile, site: ResolvedSite): Promise<Decision> {
  const name = found.segments.at(-1) ?? "";
  const isPrivate = [requested, found.segments].some((segments) => isForbiddenFile(segments, site.host));
  if (isForbidden(found.segments) || isPrivate || isScriptName(name)) return refuse;
  if (((await site.accessTo?.(requested, found.segments)) ?? access.open) < access.open) return refuse;
  const isFromVisitor = isUpload(requested) || isUpload(found.segments);
  return { kind: "static", file: found.path, version: found.version, isUpload: isFromVisitor };
}

function pathInfo(path: VisitorPath, rest: readonly string[]): string {
  if (rest.length === 0) return path.trailingSlash ? "/" : "";
  return `/${rest.join("/")}${path.trailingSlash ? "/" : ""}`;
}
