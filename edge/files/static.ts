/** Sends files, with type, length, ranges, validators and cache lifetime. */
import { createReadStream, fstatSync, read } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { type SendOptions, type SendResult, send } from "@fastify/send";
import { chooseEncoding, offeredEncodings } from "../http/encodings.ts";
import { withoutContentHeaders } from "../http/headers.ts";
import { sendPage } from "../http/pages.ts";
import type { VisitorRequest, VisitorResponse } from "../http/visitorHttp.ts";
import { type FileVersion, versionOf } from "../tables/fileLookup.ts";
import type { Visit } from "../visit/visit.ts";
import { type CachedFile, type EncodedFile, type FileCache, isCompressible, typeOf } from "./fileCache.ts";
import { type OpenFile, openFile } from "./openFile.ts";
import { etagOf, isKnown, lastModifiedOf, withoutEtags } from "./validators.ts";

const readAt = promisify(read);
const year = 365 * 24 * 60 * 60 * 1000;
const hour = 60 * 60 * 1000;
/** Files up to this length are read at once, which is cheaper than a stream. */
const singleReadBytes = 64 * 1024;
/** Buffer size of file streams. Twice Node's default: half as many reads, but more memory per slow visitor. */
const highWaterMark = 128 * 1024;

/** WordPress puts an asset's version into its URL, so the content of such a URL never changes. */
const versioned = /[?&]ver=[^&]/;
const htmlFile = /\.html?$/i;

/** Documents that could run scripts with the rights of the site. An XML document can contain XHTML or SVG. */
const activeType = /^(?:text\/(?:html|xml)|application\/xml|[\w.-]+\/[\w.-]+\+xml)\b/;
/** No scripts, forms, pop-ups or cookies. Pages can still show the document as an image, and styles in it apply. */
const sandbox = { "Content-Security-Policy": "sandbox" };

interface ResolvedFile {
  /** Absolute, without symbolic links. */
  readonly file: string;
  readonly version: FileVersion;
  /** Whether it may come from a visitor. */
  readonly isUpload: boolean;
}

export async function sendFile(visit: Visit, resolved: ResolvedFile, fileCache: FileCache): Promise<void> {
  const { file, version } = resolved;
  const { request, response } = visit;
  if (request.method !== "GET" && request.method !== "HEAD") {
    return sendPage(request, response, "methodNotAllowed", { allow: "GET, HEAD" });
  }
  const cached = wantsWholeFile(request) ? await fileCache.get(file, version, visit.route.environment.id) : null;
  if (cached === null) await sendFromDisk(visit, resolved);
  else sendCachedFile(visit, resolved, cached);
}

/** Keeps an uploaded document from acting as a page of the site. */
function sandboxOf({ file, isUpload }: ResolvedFile): Readonly<Record<string, string>> {
  return isUpload && activeType.test(typeOf(file)) ? sandbox : {};
}

/** False for range requests and for preconditions, which need the current file. */
function wantsWholeFile({ headers }: VisitorRequest): boolean {
  return !["range", "if-match", "if-unmodified-since"].some((name) => headers[name] !== undefined);
}

function sendCachedFile({ request, response, path }: Visit, resolved: ResolvedFile, cached: CachedFile): void {
  const { headers, method } = request;
  const encoded = cached.inEncoding(
    cached.isCompressible ? chooseEncoding(headers["accept-encoding"], offeredEncodings) : "identity",
  );
  const lifetime = ["Cache-Control", cacheControl(resolved.file, path.query)];
  const sent = [...lifetime, ...Object.entries(sandboxOf(resolved)).flat()];
  if (isCurrent(headers, encoded, cached)) {
    response.writeHead(304, [...sent, ...withoutContentHeaders(encoded.head)]).end();
    return;
  }
  response.writeHead(200, [...sent, ...encoded.head]);
  response.end(method === "HEAD" ? undefined : encoded.body);
}

/** Whether the visitor has the current file already, in whichever encoding. */
function isCurrent(headers: VisitorRequest["headers"], { etag }: EncodedFile, { version }: CachedFile): boolean {
  const known = headers["if-none-match"];
  if (known !== undefined) return isKnown(known, etag);
  return lastModifiedOf(version) <= Date.parse(headers["if-modified-since"] ?? "");
}

function cacheControl(file: string, query: string): string {
  const { maxAge = 0, immutable = false } = cacheLifetime(file, query);
  return `public, max-age=${Number(maxAge) / 1_000}${immutable ? ", immutable" : ""}`;
}

async function sendFromDisk({ request, response, path }: Visit, resolved: ResolvedFile): Promise<void> {
  const { file } = resolved;
  using opened = openFile(file);
  if (opened === null) return sendPage(request, response, "notFound");
  const version = versionOf(fstatSync(opened.descriptor));
  const etag = etagOf(version, Date.now());
  const result = await send(headOnly(request, withoutEtags(request.headers, version, etag)), opened.path, {
    dotfiles: "allow",
    index: false,
    contentType: false,
    etag: false,
    ...cacheLifetime(file, path.query),
  });
  if (!isSendable(result)) return sendPage(request, response, "notFound");
  const validator = result.type === "file" && { ETag: etag };
  const headers = { ...result.headers, ...validator, ...sandboxOf(resolved), ...contentHeaders(result, file) };
  response.writeHead(result.statusCode, headers);
  if (request.method === "HEAD" || result.statusCode === 304) response.end();
  else if (result.type === "file") await sendContent(opened, result, response);
  else await pipeline(result.stream, response);
}

/**
 * The request for the library as a HEAD: it returns only headers, and the content is then read from the file that is
 * already open.
 */
function headOnly(request: VisitorRequest, headers: VisitorRequest["headers"]): Readable {
  return Object.create(request, { method: { value: "HEAD" }, headers: { value: headers } });
}

/** How long browsers may use a file without asking again. Never for HTML pages, because they may change at any time. */
function cacheLifetime(file: string, query: string): Pick<SendOptions, "maxAge" | "immutable"> {
  if (htmlFile.test(file)) return { maxAge: 0 };
  return versioned.test(query) ? { maxAge: year, immutable: true } : { maxAge: hour };
}

/** False if the file was replaced since the lookup. */
function isSendable(result: SendResult): boolean {
  return result.type === "file" || (result.type === "error" && [412, 416].includes(result.statusCode));
}

/** Headers about the content. Files of unknown type are downloads; browsers must not guess the type. */
function contentHeaders(result: SendResult, file: string): Readonly<Record<string, string>> {
  const nosniff = { "X-Content-Type-Options": "nosniff" };
  if (result.type !== "file" || result.statusCode === 304) return nosniff;
  const type = typeOf(file);
  return { ...nosniff, "Content-Type": type, ...(isCompressible(type) && { Vary: "Accept-Encoding" }) };
}

/**
 * Sends the content that the head announced. If the file is shorter by now, aborts so that it doesn't seem complete.
 */
async function sendContent(file: OpenFile, { headers }: SendResult, response: VisitorResponse): Promise<void> {
  const start = Number(/^bytes (\d+)-/.exec(headers["Content-Range"] ?? "")?.[1] ?? 0);
  const length = Number(headers["Content-Length"]);
  if (length <= singleReadBytes) {
    const { bytesRead, buffer } = await readAt(file.descriptor, Buffer.allocUnsafe(length), 0, length, start);
    if (bytesRead === length) response.end(buffer);
    else response.destroy();
    return;
  }
  const stream = createReadStream("", {
    fd: file.descriptor,
    autoClose: false,
    start,
    end: start + length - 1,
    highWaterMark,
  });
  await pipeline(stream, response, { end: false });
  if (stream.bytesRead === length) response.end();
  else response.destroy();
}
