/** Reads and writes the file of a cached page: the length of its head, its head as JSON, and the uncompressed page. */
import { open } from "node:fs/promises";
import type { PageAddress } from "../visit/pageRequest.ts";
import type { RenderedPage } from "./cachedPage.ts";
import type { PageTags } from "./tags.ts";

const lengthBytes = 4;
/** More than any head needs. */
const maxHeadBytes = 64 << 10;

/** The head as stored. Field names must not change, because a new version reads the files of the previous one. */
interface StoredHead extends Pick<RenderedPage, "headers" | "madeAt" | "lifetime"> {
  readonly ask: {
    readonly environmentId: string;
    readonly key: string;
    readonly place: PageAddress;
    /** Older files lack it. */
    readonly isVariant?: boolean;
  };
  /** Older files lack it. */
  readonly tags?: PageTags;
  readonly bodyBytes: number;
}

export function writePageFile({ request, headers, madeAt, lifetime, tags, body }: RenderedPage): Buffer {
  const { environmentId, key, address, isVariant } = request;
  const head: StoredHead = {
    ask: { environmentId, key, place: address, isVariant },
    headers,
    madeAt,
    lifetime,
    tags,
    bodyBytes: body.length,
  };
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, body]);
}

type Head = Omit<RenderedPage, "body"> & { readonly bodyBytes: number };

/** Null if the file is incomplete or damaged. */
export function readPageFile(content: Buffer): RenderedPage | null {
  const read = readHead(content);
  if (read === null || content.length !== read.bytes + read.head.bodyBytes) return null;
  const { bodyBytes: _, ...head } = read.head;
  return { ...head, body: content.subarray(read.bytes) };
}

/** Reads only the head. `bytes` is the size of the whole file. Null if it is damaged. Rejects if it can't be read. */
export async function readPageHead(
  file: string,
): Promise<(Omit<Head, "bodyBytes"> & { readonly bytes: number }) | null> {
  const handle = await open(file);
  try {
    const content = Buffer.alloc(maxHeadBytes);
    const { bytesRead } = await handle.read(content, 0, content.length, 0);
    const read = readHead(content.subarray(0, bytesRead));
    return read === null ? null : { ...read.head, bytes: read.bytes + read.head.bodyBytes };
  } finally {
    await handle.close();
  }
}

/** `bytes` is the length of the head, including its length field. */
function readHead(content: Buffer): { readonly head: Head; readonly bytes: number } | null {
  if (content.length < lengthBytes) return null;
  const bytes = lengthBytes + content.readUInt32BE();
  if (content.length < bytes) return null;
  try {
    const { ask, tags = null, ...head }: StoredHead = JSON.parse(content.toString("utf8", lengthBytes, bytes));
    if (typeof ask?.key !== "string" || !Number.isInteger(head.bodyBytes)) return null;
    const { environmentId, key, place, isVariant = place.query !== "" } = ask;
    return { head: { ...head, tags, request: { environmentId, key, address: place, isVariant } }, bytes };
  } catch {
    return null;
  }
}
