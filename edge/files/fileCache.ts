/**
 * Keeps small files in memory, uncompressed and, if worthwhile, compressed.
 *
 * Each request still looks the file up on disk, symbolic links included. A cached file is used only if size, times and
 * inode are unchanged. A file that has just been written is not cached, because the next write may fall into the same
 * tick of the file system's clock.
 */
import { fstatSync, read } from "node:fs";
import { promisify } from "node:util";
import { isUtf8MimeType, mime } from "@fastify/send";
import { compress } from "../http/compress.ts";
import type { Encoding } from "../http/encodings.ts";
import { createCacheShares, type Held } from "../shares/cacheShares.ts";
import { type FileVersion, isSameVersion, versionOf } from "../tables/fileLookup.ts";
import { openFile } from "./openFile.ts";
import { etagIn, etagOf } from "./validators.ts";

const readAt = promisify(read);

export interface CachedFile {
  /** Returns the file in this encoding, or uncompressed while the encoding is first being made. */
  inEncoding(encoding: Encoding | "identity"): EncodedFile;
  /** Whether it can be sent compressed. */
  readonly isCompressible: boolean;
  readonly lastModified: string;
  readonly version: FileVersion;
}

export interface EncodedFile {
  readonly body: Buffer;
  readonly etag: string;
  /** Name, value, name, value; without Cache-Control. */
  readonly head: readonly string[];
}

export interface FileCache {
  /**
   * Null if the file is too large, too new or has changed since the lookup. `file` is absolute, without symbolic links. If it
   * is not cached yet, it counts towards the share of this environment's company.
   */
  get(file: string, version: FileVersion, environmentId: string): Promise<CachedFile | null> | CachedFile | null;
  /** Sets who pays for each environment. */
  setPayers(payers: ReadonlyMap<string, string>): void;
}

/** Larger files are sent from disk. */
const maxBytes = { text: 1 << 20, other: 2 << 20 };
/** Files changed more recently are not cached. */
const minAgeMilliseconds = 2_000;
/** Shorter texts are not compressed. */
const minCompressedBytes = 512;

const compressibleType =
  /^(?:text\/|application\/(?:.*\+)?(?:json|xml|javascript|wasm)\b|image\/svg|image\/x-icon|font\/(?:ttf|otf))/;

/** Files compressed in advance by the site's developer. */
const suffixes: Readonly<Record<Encoding, string>> = { br: ".br", zstd: ".zst", gzip: ".gz" };

export function typeOf(file: string): string {
  const type = mime.getType(file) ?? "application/octet-stream";
  return isUtf8MimeType(type) ? `${type}; charset=utf-8` : type;
}

/** Whether files of this type are worth compressing. */
export function isCompressible(type: string): boolean {
  return compressibleType.test(type);
}

/** A cached file, as `cacheShares.ts` counts it. */
interface Entry {
  readonly file: string;
  readonly cached: CachedFile;
  readonly environmentId: string;
  readonly bytes: number;
  readonly isVariant: false;
}

/** `bytes` is the limit for all files together. Companies share it as they share that of the page cache. */
export function createFileCache(bytes: number, now: () => number = Date.now): FileCache {
  const files = new Map<string, Held<Entry>>();
  const shares = createCacheShares<Entry>(bytes, ({ file }) => files.delete(file));

  function keep(file: string, cached: CachedFile, environmentId: string): void {
    const { version, isCompressible } = cached;
    // All compressed encodings together are smaller than the file.
    const entryBytes = version.size * (isCompressible ? 2 : 1) + 1_000;
    const before = files.get(file);
    if (before !== undefined) shares.remove(before);
    const entry = { file, cached, environmentId, bytes: entryBytes, isVariant: false } as const;
    files.set(file, shares.add(entry, before?.isAskedAgain ?? false));
    shares.makeRoom();
  }

  async function load(file: string, version: FileVersion, environmentId: string): Promise<CachedFile | null> {
    const type = typeOf(file);
    const limit = isCompressible(type) ? maxBytes.text : maxBytes.other;
    if (version.size > limit || Math.abs(now() - version.changed) < minAgeMilliseconds) return null;
    const content = await readWhole(file, version);
    if (content === null) return null;
    const cached = toCachedFile(file, { content, type, version, etag: etagOf(version, now()) });
    keep(file, cached, environmentId);
    return cached;
  }

  return {
    get(file, version, environmentId) {
      const held = files.get(file);
      if (held === undefined || !isSameVersion(held.page.cached.version, version)) {
        return load(file, version, environmentId);
      }
      shares.touch(held);
      return held.page.cached;
    },
    setPayers: shares.setPayers,
  };
}

interface Content {
  readonly content: Buffer;
  readonly type: string;
  readonly version: FileVersion;
  /** Of the uncompressed content. */
  readonly etag: string;
}

function toCachedFile(file: string, { content, type, version, etag: plainEtag }: Content): CachedFile {
  const compressible = isCompressible(type) && content.length >= minCompressedBytes;
  const lastModified = new Date(version.modified).toUTCString();
  const common = [
    ...["Content-Type", type, "Last-Modified", lastModified, "X-Content-Type-Options", "nosniff"],
    ...["Accept-Ranges", "bytes", ...(compressible ? ["Vary", "Accept-Encoding"] : [])],
  ];
  const encoded = new Map<Encoding, EncodedFile>();

  function encodedFile(body: Buffer, encoding: Encoding | null): EncodedFile {
    const etag = encoding === null ? plainEtag : etagIn(encoding, plainEtag);
    const encoded = encoding === null ? [] : ["Content-Encoding", encoding];
    return { body, etag, head: [...common, ...encoded, "ETag", etag, "Content-Length", String(body.length)] };
  }

  const identity = encodedFile(content, null);

  async function compressTo(encoding: Encoding): Promise<void> {
    const compressed = (await readPrecompressed(file, encoding, version)) ?? (await compress(content, encoding));
    if (compressed.length < content.length) encoded.set(encoding, encodedFile(compressed, encoding));
  }

  return {
    isCompressible: compressible,
    lastModified,
    version,
    inEncoding(encoding) {
      if (encoding === "identity" || !compressible) return identity;
      const existing = encoded.get(encoding);
      if (existing !== undefined) return existing;
      encoded.set(encoding, identity);
      compressTo(encoding).catch(() => undefined);
      return identity;
    },
  };
}

/** Null if the file has changed since the lookup. */
async function readWhole(file: string, version: FileVersion): Promise<Buffer | null> {
  using opened = openFile(file);
  if (opened === null) return null;
  if (!isSameVersion(versionOf(fstatSync(opened.descriptor)), version)) return null;
  const { size } = version;
  const { bytesRead, buffer } = await readAt(opened.descriptor, Buffer.allocUnsafeSlow(size), 0, size, 0);
  return bytesRead === size ? buffer : null;
}

/** Reads the file that was compressed in advance. Null if there is none or it is older than the original. */
async function readPrecompressed(file: string, encoding: Encoding, { modified }: FileVersion): Promise<Buffer | null> {
  using opened = openFile(`${file}${suffixes[encoding]}`);
  if (opened === null) return null;
  const stats = fstatSync(opened.descriptor);
  if (!stats.isFile() || stats.mtimeMs < modified || stats.size > maxBytes.text) return null;
  const { bytesRead, buffer } = await readAt(opened.descriptor, Buffer.allocUnsafeSlow(stats.size), 0, stats.size, 0);
  return bytesRead === stats.size ? buffer : null;
}
