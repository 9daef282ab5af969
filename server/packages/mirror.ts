/**
 * A package source for installations that can't reach WordPress.org. It serves the zips in a folder through the parts of
 * WordPress.org's API that WordPress and Sitewright use. URLs in responses have the host of the request.
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { fieldOf } from "@sitewright/runtimes/fields.ts";
import { type CataloguedPackage, type CatalogueKind, newestOf, openCatalogue } from "./catalogue.ts";
import { compareVersions } from "./versions.ts";

const maxRequestBytes = 10_000_000;

const zipPath = ({ kind, slug, version }: CataloguedPackage) =>
  kind === "core" ? `/release/wordpress-${version}.zip` : `/${kind}/${slug}.${version}.zip`;

function parsed(json: string | null): unknown {
  try {
    return JSON.parse(json ?? "");
  } catch {
    return null;
  }
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > maxRequestBytes) throw new Error("The request is too large.");
    parts.push(part);
  }
  return new URLSearchParams(Buffer.concat(parts).toString("utf8"));
}

/** The response to an update check: known packages with and without a newer version. */
function updates(kind: "plugin" | "theme", request: unknown, packages: readonly CataloguedPackage[], base: string) {
  const newer: Record<string, unknown> = {};
  const same: Record<string, unknown> = {};
  const list = fieldOf(request, `${kind}s`);
  for (const [file, one] of Object.entries(typeof list === "object" && list !== null ? list : {})) {
    const newest = newestOf(packages.filter((each) => each.kind === kind && each.file === file));
    if (newest === null) continue;
    const facts = {
      url: "",
      package: base + zipPath(newest),
      new_version: newest.version,
      requires: newest.requires || false,
      requires_php: newest.requiresPhp || false,
    };
    const offer =
      kind === "plugin"
        ? { id: `w.org/plugins/${newest.slug}`, slug: newest.slug, plugin: file, tested: "", ...facts }
        : { theme: newest.slug, ...facts };
    const installed = String(fieldOf(one, "Version") ?? "");
    if (compareVersions(newest.version, installed) > 0) newer[file] = offer;
    else same[file] = offer;
  }
  return { [`${kind}s`]: newer, no_update: same, translations: [] };
}

function information(all: readonly CataloguedPackage[], base: string) {
  const newest = newestOf(all);
  if (newest === null) return null;
  return {
    name: newest.title,
    slug: newest.slug,
    version: newest.version,
    requires: newest.requires || false,
    requires_php: newest.requiresPhp || false,
    download_link: base + zipPath(newest),
    versions: Object.fromEntries(all.map((one) => [one.version, base + zipPath(one)])),
  };
}

function coreOffers(packages: readonly CataloguedPackage[], installed: string, base: string) {
  const cores = packages.filter(({ kind }) => kind === "core");
  const newestFirst = cores.toSorted((one, other) => compareVersions(other.version, one.version));
  const offers = newestFirst.map((core, at) => {
    const download = base + zipPath(core);
    const isNewer = compareVersions(core.version, installed) > 0;
    return {
      // WordPress offers the first one to users; the others can be requested.
      response: at > 0 ? "autoupdate" : isNewer ? "upgrade" : "latest",
      download,
      locale: "en_US",
      packages: { full: download, no_content: false, new_bundled: false, partial: false, rollback: false },
      current: core.version,
      version: core.version,
      php_version: "7.2.24",
      mysql_version: "5.5.5",
      new_bundled: "",
      partial_version: false,
    };
  });
  return { offers, translations: [] };
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

async function sendZip(response: ServerResponse, zip: string): Promise<void> {
  const { size } = await stat(zip);
  response.writeHead(200, { "content-type": "application/zip", "content-length": size });
  await pipeline(createReadStream(zip, { end: Math.max(0, size - 1) }), response);
}

/** Serves the current content of the folder. The caller makes it listen. */
export function makeMirror(folder: string): Server {
  const catalogue = openCatalogue(folder);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const base = `http://${request.headers.host ?? "127.0.0.1"}`;
    const { pathname, searchParams } = new URL(request.url ?? "/", base);
    const { packages } = await catalogue();
    const check = /^\/(plugin|theme)s\/update-check\/1\.\d\/$/.exec(pathname)?.[1];
    if (check === "plugin" || check === "theme") {
      const installed = parsed((await formOf(request)).get(`${check}s`));
      return sendJson(response, 200, updates(check, installed, packages, base));
    }
    const about = /^\/(plugin|theme)s\/info\/1\.\d\/$/.exec(pathname)?.[1];
    if (about !== undefined) {
      const slug = searchParams.get("request[slug]") ?? searchParams.get("slug");
      const found = information(
        packages.filter((one) => one.kind === about && one.slug === slug),
        base,
      );
      return found === null ? sendJson(response, 404, { error: "Not found." }) : sendJson(response, 200, found);
    }
    if (/^\/core\/version-check\/1\.\d\/$/.test(pathname)) {
      const installed = searchParams.get("version") ?? "";
      return sendJson(response, 200, coreOffers(packages, installed, base));
    }
    const wanted = packages.find((one) => zipPath(one) === decodeURIComponent(pathname));
    return wanted === undefined ? sendJson(response, 404, { error: "Not found." }) : sendZip(response, wanted.zip);
  }

  return createServer((request, response) => {
    answer(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: "The mirror could not answer." });
    });
  });
}

/** A summary for the operator: numbers of packages, and skipped zips. */
export async function describeMirror(folder: string): Promise<string> {
  const { packages, problems } = await openCatalogue(folder)();
  const slugs = (kind: CatalogueKind) =>
    new Set(packages.filter((one) => one.kind === kind).map(({ slug }) => slug)).size;
  const cores = packages.filter(({ kind }) => kind === "core").length;
  const counted = `Plugins: ${slugs("plugin")}, themes: ${slugs("theme")}, versions of WordPress: ${cores}, zips: ${packages.length}`;
  return [counted, ...problems.map((problem) => `Left out: ${problem}`)].join("\n");
}
