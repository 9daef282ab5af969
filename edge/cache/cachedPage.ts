/** A cached page, ready to send in each content encoding. */
import { createHash } from "node:crypto";
import { compress } from "../http/compress.ts";
import { type Encoding, offeredEncodings } from "../http/encodings.ts";
import { toVisitor } from "../http/headers.ts";
import type { PageAddress, PageRequest } from "../visit/pageRequest.ts";
import type { Lifetime } from "./lifetime.ts";
import type { PageTags } from "./tags.ts";

type Headers = readonly (readonly [name: string, value: string])[];

/** A page as rendered by PHP. */
export interface RenderedPage {
  readonly request: Pick<PageRequest, "environmentId" | "key" | "address" | "isVariant">;
  readonly headers: Headers;
  readonly body: Buffer;
  /** Milliseconds since 1970. */
  readonly madeAt: number;
  readonly lifetime: Lifetime;
  /** What the page shows (`tags.ts`). */
  readonly tags: PageTags;
}

export interface CachedPage extends RenderedPage {
  /** Estimated size in bytes, with all encodings. */
  readonly size: number;
  /** Returns the page in this encoding, or uncompressed while the encoding is first being made. */
  inEncoding(encoding: Encoding | "identity"): EncodedPage;
  /** When the URL was last found to lead to WordPress and not to a file. Milliseconds since 1970. */
  resolvedAt: number;
}

export interface EncodedPage {
  readonly body: Buffer;
  readonly etag: string;
  /** Name, value, name, value; without headers that differ between responses. */
  readonly head: readonly string[];
}

/** Shorter pages are not compressed. */
const minCompressedBytes = 512;

/** Headers replaced by our own, because they depend on the encoding or the time of sending. */
const replacedHeaders = new Set(["content-length", "etag", "vary", "date", "age", "last-modified", "accept-ranges"]);

export function toCachedPage(page: RenderedPage): CachedPage {
  const kept = page.headers.filter(([name]) => !replacedHeaders.has(name.toLowerCase()));
  const common = [...toVisitor(kept), "Vary", varyOf(page)];
  const digest = createHash("blake2s256").update(page.body).digest("base64url").slice(0, 22);
  const identity = encodedPage(common, digest, "identity", page.body);
  const encoded = new Map<Encoding, EncodedPage | null>();

  function compressTo(encoding: Encoding): void {
    encoded.set(encoding, null);
    compress(page.body, encoding).then(
      (body) => encoded.set(encoding, encodedPage(common, digest, encoding, body)),
      () => encoded.set(encoding, identity),
    );
  }

  return {
    ...page,
    // The three compressed encodings together are smaller than the uncompressed page.
    size: page.body.length * 2 + page.request.key.length * 2 + (page.tags?.length ?? 0) + 2_000,
    resolvedAt: page.madeAt,
    inEncoding(encoding) {
      if (encoding === "identity" || page.body.length < minCompressedBytes) return identity;
      if (!encoded.has(encoding)) compressTo(encoding);
      return encoded.get(encoding) ?? identity;
    },
  };
}

/** Encodings that are offered for pages. */
export const pageEncodings = offeredEncodings;

function encodedPage(
  common: readonly string[],
  digest: string,
  encoding: Encoding | "identity",
  body: Buffer,
): EncodedPage {
  const etag = `W/"${digest}-${encoding}"`;
  const encoded = encoding === "identity" ? [] : ["Content-Encoding", encoding];
  return { body, etag, head: [...common, ...encoded, "ETag", etag, "Content-Length", String(body.length)] };
}

function varyOf({ lifetime }: RenderedPage): string {
  return lifetime.variesByLanguage ? "Accept-Encoding, Accept-Language, Cookie" : "Accept-Encoding, Cookie";
}

/** Whether `address` is the page `wanted` or, for a subtree, at or below it. */
export function isWithin(address: PageAddress, wanted: PageAddress, isSubtree: boolean): boolean {
  const { segments, query } = address;
  if (!isSubtree && segments.length !== wanted.segments.length) return false;
  if (wanted.segments.some((segment, at) => segments[at] !== segment)) return false;
  if (wanted.query === "") return true;
  const fields = new Set(query.slice(1).split("&"));
  return wanted.query
    .slice(1)
    .split("&")
    .every((field) => fields.has(field));
}
