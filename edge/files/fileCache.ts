/**
 * Small files in memory, with what is sent of them: the file as it is, and smaller where that pays.
 *
 * A file is looked for on the disk at every request, links and all (`disk.ts`). What was found then is compared with what was
 * read: another size, time or inode is another file. One that has just been written to is not kept, because it could
 * be written to again within the same moment of the file system's clock.
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
  /** The form that is wanted; as it is, while that form is being made for the first time. */
  inEncoding(encoding: Encoding | "identity"): FileForm;
  /** Whether there are forms of it. */
  readonly isCompressible: boolean;
  readonly lastModified: string;
  readonly facts: FileFacts;
}

export interface FileForm {
  readonly body: Buffer;
  readonly etag: string;
  /** Flat: name, value, name, value; all but for how long it may be kept. */
  readonly head: readonly string[];
}

export interface FileCache {
  /** Null if it is too large, too new, or not as it was found. `file` is absolute and free of symbolic links. */
  get(file: string, facts: FileFacts): Promise<CachedFile | null> | CachedFile | null;
}

/** Longer ones are sent from the disk. Texts take less than they seem. */
const mostBytes = { text: 1 << 20, other: 2 << 20 };
const settledMilliseconds = 2_000;
/** Shorter texts get no shorter. */
const worthBytes = 512;

const text =
  /^(?:text\/|application\/(?:.*\+)?(?:json|xml|javascript|wasm)\b|image\/svg|image\/x-icon|font\/(?:ttf|otf))/;

/** Files that the site's developer has compressed in advance. */
const suffixes: Readonly<Record<Encoding, string>> = { br: ".br", zstd: ".zst", gzip: ".gz" };

export function typeOf(file: string): string {
  const type = mime.getType(file) ?? "application/octet-stream";
  return isUtf8MimeType(type) ? `${type}; charset=utf-8` : type;
}

/** Whether it is worth to send it smaller. */
export function isCompressible(type: string): boolean {
  return text.test(type);
}

export function isSame(one: FileFacts, other: FileFacts): boolean {
  const isAlike = one.size === other.size && one.inode === other.inode;
  return isAlike && one.modified === other.modified && one.changed === other.changed;
}

/** `bytes`: all of them together. */
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

/** Null if it is not the file that was found. */
async function readWhole(file: string, facts: FileFacts): Promise<Buffer | null> {
  using opened = openFile(file);
  if (opened === null) return null;
  const { size, mtimeMs, ctimeMs, ino } = fstatSync(opened.descriptor);
  if (!isSame({ size, modified: mtimeMs, changed: ctimeMs, inode: ino }, facts)) return null;
  const { bytesRead, buffer } = await readAt(opened.descriptor, Buffer.allocUnsafeSlow(size), 0, size, 0);
  return bytesRead === size ? buffer : null;
}

/** Null if there is none, or an older one. */
async function readBeside(file: string, encoding: Encoding, { modified }: FileFacts): Promise<Buffer | null> {
  using opened = openFile(`${file}${suffixes[encoding]}`);
  if (opened === null) return null;
  const facts = fstatSync(opened.descriptor);
  if (!facts.isFile() || facts.mtimeMs < modified || facts.size > mostBytes.text) return null;
  const { bytesRead, buffer } = await readAt(opened.descriptor, Buffer.allocUnsafeSlow(facts.size), 0, facts.size, 0);
  return bytesRead === facts.size ? buffer : null;
}
