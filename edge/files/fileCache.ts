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
import { LRUCache } from "lru-cache";
import type { FileFacts } from "../disk.ts";
import { compress } from "../http/compress.ts";
import type { Encoding } from "../http/encodings.ts";
import { openFile } from "./openFile.ts";

const readAt = promisify(read);

export interface CachedFile {
  /** Returns the file in this encoding, or uncompressed while the encoding is first being made. */
  inEncoding(encoding: Encoding | "identity"): FileForm;
  /** Whether it can be sent compressed. */
  readonly isCompressible: boolean;
  readonly lastModified: string;
  readonly facts: FileFacts;
}

export interface FileForm {
  readonly body: Buffer;
  readonly etag: string;
  /** Name, value, name, value; without Cache-Control. */
  readonly head: readonly string[];
}

export interface FileCache {
  /**
   * Null if the file is too large, too new or has changed since the lookup. `file` is absolute, without symbolic links.
   */
  get(file: string, facts: FileFacts): Promise<CachedFile | null> | CachedFile | null;
}

/** Larger files are sent from disk. */
const mostBytes = { text: 1 << 20, other: 2 << 20 };
const settledMilliseconds = 2_000;
/** Shorter texts are not compressed. */
const worthBytes = 512;

const text =
  /^(?:text\/|application\/(?:.*\+)?(?:json|xml|javascript|wasm)\b|image\/svg|image\/x-icon|font\/(?:ttf|otf))/;

/** Files compressed in advance by the site's developer. */
const suffixes: Readonly<Record<Encoding, string>> = { br: ".br", zstd: ".zst", gzip: ".gz" };

export function typeOf(file: string): string {
  const type = mime.getType(file) ?? "application/octet-stream";
  return isUtf8MimeType(type) ? `${type}; charset=utf-8` : type;
}

/** Whether files of this type are worth compressing. */
export function isCompressible(type: string): boolean {
  return text.test(type);
}

export function isSame(one: FileFacts, other: FileFacts): boolean {
  const isAlike = one.size === other.size && one.inode === other.inode;
  return isAlike && one.modified === other.modified && one.changed === other.changed;
}

/** `bytes` is the limit for all files together. */
export function createFileCache(bytes: number, now: () => number = Date.now): FileCache {
  const files = new LRUCache<string, CachedFile>({
    maxSize: bytes,
    sizeCalculation: ({ facts: { size }, isCompressible: hasForms }) => size * (hasForms ? 2 : 1) + 1_000,
  });

  async function load(file: string, facts: FileFacts): Promise<CachedFile | null> {
    const type = typeOf(file);
    const mostOf = isCompressible(type) ? mostBytes.text : mostBytes.other;
    if (facts.size > mostOf || Math.abs(now() - facts.changed) < settledMilliseconds) return null;
    const content = await readWhole(file, facts);
    if (content === null) return null;
    const kept = keep(file, { content, type, facts });
    files.set(file, kept);
    return kept;
  }

  return {
    get(file, facts) {
      const known = files.get(file);
      return known !== undefined && isSame(known.facts, facts) ? known : load(file, facts);
    },
  };
}

interface Content {
  readonly content: Buffer;
  readonly type: string;
  readonly facts: FileFacts;
}

function keep(file: string, { content, type, facts }: Content): CachedFile {
  const hasForms = isCompressible(type) && content.length >= worthBytes;
  const lastModified = new Date(facts.modified).toUTCString();
  const tag = `${facts.size.toString(16)}-${Math.floor(facts.modified).toString(16)}`;
  const common = [
    ...["Content-Type", type, "Last-Modified", lastModified, "X-Content-Type-Options", "nosniff"],
    ...["Accept-Ranges", "bytes", ...(hasForms ? ["Vary", "Accept-Encoding"] : [])],
  ];
  const forms = new Map<Encoding, FileForm>();

  function formOf(body: Buffer, encoding: Encoding | null): FileForm {
    const etag = encoding === null ? `W/"${tag}"` : `W/"${tag}-${encoding}"`;
    const encoded = encoding === null ? [] : ["Content-Encoding", encoding];
    return { body, etag, head: [...common, ...encoded, "ETag", etag, "Content-Length", String(body.length)] };
  }

  const identity = formOf(content, null);

  async function make(encoding: Encoding): Promise<void> {
    const smaller = (await readBeside(file, encoding, facts)) ?? (await compress(content, encoding));
    if (smaller.length < content.length) forms.set(encoding, formOf(smaller, encoding));
  }

  return {
    isCompressible: hasForms,
    lastModified,
    facts,
    inEncoding(encoding) {
      if (encoding === "identity" || !hasForms) return identity;
      const known = forms.get(encoding);
      if (known !== undefined) return known;
      forms.set(encoding, identity);
      make(encoding).catch(() => undefined);
      return identity;
    },
  };
}

/** Null if the file has changed since the lookup. */
async function readWhole(file: string, facts: FileFacts): Promise<Buffer | null> {
  using opened = openFile(file);
  if (opened === null) return null;
  const { size, mtimeMs, ctimeMs, ino } = fstatSync(opened.descriptor);
  if (!isSame({ size, modified: mtimeMs, changed: ctimeMs, inode: ino }, facts)) return null;
  const { bytesRead, buffer } = await readAt(opened.descriptor, Buffer.allocUnsafeSlow(size), 0, size, 0);
  return bytesRead === size ? buffer : null;
}

/** Reads the file that was compressed in advance. Null if there is none or it is older than the original. */
async function readBeside(file: string, encoding: Encoding, { modified }: FileFacts): Promise<Buffer | null> {
  using opened = openFile(`${file}${suffixes[encoding]}`);
  if (opened === null) return null;
  const facts = fstatSync(opened.descriptor);
  if (!facts.isFile() || facts.mtimeMs < modified || facts.size > mostBytes.text) return null;
  const { bytesRead, buffer } = await readAt(opened.descriptor, Buffer.allocUnsafeSlow(facts.size), 0, facts.size, 0);
  return bytesRead === facts.size ? buffer : null;
}
