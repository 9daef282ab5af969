/**
 * A package source for installations that can't reach WordPress.org. It serves the zips in a folder through the parts of
 * WordPress.org's API that WordPress, WP-CLI and Sitewright use. URLs in responses have the host of the request.
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { type CataloguedPackage, type CatalogueKind, newestOf, openCatalogue } from "./catalogue.ts";
import {
  coreOffersOf,
  type ExtensionKind,
  informationOf,
  newestZipPath,
  type Search,
  type Stock,
  searchIn,
  translationsOf,
  updatesOf,
  zipPath,
} from "./mirrorAnswers.ts";
import { readZipChecksums } from "./zip.ts";

const maxRequestBytes = 10_000_000;

function parsed(json: string | null): unknown {
  try {
    return JSON.parse(json ?? "");
  } catch {
    return null;
  }
}

/** Reads the fields of a form, or of a query. */
type Fields = Pick<URLSearchParams, "get">;

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

/** An answer as JSON. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const found = (body: unknown): Answer => ({ status: 200, body });
const missing = (error: string): Answer => ({ status: 404, body: { error } });

const isExtension = (kind: string | undefined): kind is ExtensionKind => kind === "plugin" || kind === "theme";

/** A whole number from 1, or the fallback. */
function numberOf(text: string | null, fallback: number): number {
  const number = Number(text);
  return Number.isSafeInteger(number) && number > 0 ? number : fallback;
}

/** Answers `/plugins/info/1.2/` and `/themes/info/1.2/`. Arguments are in `request`, or directly in the query. */
function answerInfo(kind: ExtensionKind, query: Fields, stock: Stock): Answer {
  const argument = (name: string) => query.get(`request[${name}]`) ?? query.get(name);
  const name = kind === "plugin" ? "Plugin" : "Theme";
  switch (query.get("action") ?? `${kind}_information`) {
    case `${kind}_information`: {
      const information = informationOf(kind, argument("slug"), stock);
      // WordPress looks for these words.
      return information === null ? missing(`${name} not found.`) : found(information);
    }
    case `query_${kind}s`: {
      const search: Search = {
        words: [argument("search"), argument("tag"), argument(kind)].filter((text) => text !== null).join(" "),
        author: argument("author") ?? "",
        browse: argument("browse") ?? "",
        page: numberOf(argument("page"), 1),
        perPage: numberOf(argument("per_page"), 24),
      };
      return found(searchIn(kind, search, stock));
    }
    case "hot_tags":
    case "feature_list":
      return found({});
    default:
      return missing("Action not implemented.");
  }
}

/** Answers `/translations/<kind>s/1.0/`. */
function answerTranslations(kind: CatalogueKind, fields: Fields, stock: Stock): Answer {
  const slug = kind === "core" ? "default" : (fields.get("slug") ?? "");
  const newest =
    kind === "core" ? null : newestOf(stock.packages.filter((one) => one.kind === kind && one.slug === slug));
  const version = fields.get("version") || newest?.version || fields.get("wp_version") || "";
  return found(translationsOf({ kind, slug, version }, stock));
}

function answerUpdateCheck(kind: ExtensionKind, form: Fields, stock: Stock): Answer {
  const check = {
    installed: parsed(form.get(`${kind}s`)),
    translations: parsed(form.get("translations")),
    locales: parsed(form.get("locale")),
  };
  return found(updatesOf(kind, check, stock));
}

/** Answers the requests for checksums of one version. */
async function answerChecksums(wanted: CataloguedPackage | undefined): Promise<Answer> {
  if (wanted === undefined) return missing("Not found.");
  const files = await readZipChecksums(wanted.zip);
  if (wanted.kind !== "core") {
    return found({ plugin: wanted.slug, version: wanted.version, files: Object.fromEntries(files) });
  }
  return found({ checksums: Object.fromEntries([...files].map(([name, { md5 }]) => [name, md5])) });
}

interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Reads the body as a form. */
  readonly form: () => Promise<URLSearchParams>;
}

/** Answers a request to the API, or returns null if the path is not a part of it. */
async function answerApi({ path, query, form }: Asked, stock: Stock): Promise<Answer | null> {
  const [, noun = "", service = ""] = /^\/(plugin|theme|core|translations)s?\/([a-z-]+)\//.exec(path) ?? [];
  const isService = (name: string) => service === name && new RegExp(`/${name}/1\\.\\d/$`).test(path);
  if (isExtension(noun) && isService("update-check")) return answerUpdateCheck(noun, await form(), stock);
  if (isExtension(noun) && isService("info")) {
    // WordPress before 4.9 and some tools send a form.
    return answerInfo(noun, query.size > 0 ? query : await form(), stock);
  }
  const translated = /^\/translations\/(core|plugin|theme)s?\/1\.0\/$/.exec(path)?.[1];
  if (translated === "core" || isExtension(translated)) {
    return answerTranslations(translated, query.has("version") ? query : await form(), stock);
  }
  if (noun === "core" && isService("version-check")) {
    const installed = query.get("version") ?? "";
    const translations = parsed((await form()).get("translations"));
    return found(coreOffersOf({ installed, locale: query.get("locale") ?? "", translations }, stock));
  }
  if (noun === "core" && isService("checksums")) {
    const version = query.get("version");
    return answerChecksums(stock.packages.find((one) => one.kind === "core" && one.version === version));
  }
  const [, slug, version] = /^\/plugin-checksums\/([^/]+)\/([^/]+)\.json$/.exec(path) ?? [];
  if (slug === undefined) return null;
  const isWanted = (one: CataloguedPackage) => one.kind === "plugin" && one.slug === slug && one.version === version;
  return answerChecksums(stock.packages.find(isWanted));
}

/** Returns the zip that a path names, or null. */
function zipAt(path: string, { packages, languagePacks }: Stock): string | null {
  const exact = packages.find((one) => zipPath(one) === path) ?? languagePacks.find((one) => one.path === path);
  return (exact ?? newestOf(packages.filter((one) => newestZipPath(one) === path)))?.zip ?? null;
}

function sendJson(response: ServerResponse, { status, body }: Answer): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
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
    const { pathname, searchParams: query } = new URL(request.url ?? "/", base);
    const stock = { ...(await catalogue()), base };
    const path = decodeURIComponent(pathname);
    const answered = await answerApi({ path, query, form: () => formOf(request) }, stock);
    if (answered !== null) return sendJson(response, answered);
    const zip = zipAt(path, stock);
    return zip === null ? sendJson(response, missing("Not found.")) : sendZip(response, zip);
  }

  return createServer((request, response) => {
    answer(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else sendJson(response, { status: 500, body: { error: "The mirror could not answer." } });
    });
  });
}

/** A summary for the operator: numbers of packages and language packs, and skipped zips. */
export async function describeMirror(folder: string): Promise<string> {
  const { packages, languagePacks, problems } = await openCatalogue(folder)();
  const slugs = (kind: CatalogueKind) =>
    new Set(packages.filter((one) => one.kind === kind).map(({ slug }) => slug)).size;
  const cores = packages.filter(({ kind }) => kind === "core").length;
  const counted = [
    `Plugins: ${slugs("plugin")}, themes: ${slugs("theme")}, versions of WordPress: ${cores}`,
    `language packs: ${languagePacks.length}, zips: ${packages.length + languagePacks.length}`,
  ];
  return [counted.join(", "), ...problems.map((problem) => `Left out: ${problem}`)].join("\n");
}
