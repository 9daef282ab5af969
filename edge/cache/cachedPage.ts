/** A cached page, ready to send in each content encoding. */
import { createHash } from "node:crypto";
import { compress } from "../http/compress.ts";
import { type Encoding, offeredEncodings } from "../http/encodings.ts";
import { toVisitor } from "../http/headers.ts";
import type { Lifetime } from "./lifetime.ts";
import type { PageAddress, PageRequest } from "./pageAsk.ts";

type Headers = readonly (readonly [name: string, value: string])[];

/** A page as rendered by PHP. */
export interface MadePage {
  readonly ask: Pick<PageRequest, "environmentId" | "key" | "place">;
  readonly headers: Headers;
  readonly body: Buffer;
  /** Milliseconds since 1970. */
  readonly madeAt: number;
  readonly lifetime: Lifetime;
}

export interface CachedPage extends MadePage {
  /** Estimated size in bytes, with all encodings. */
  readonly size: number;
  /** Returns the page in this encoding, or uncompressed while the encoding is first being made. */
  inEncoding(encoding: Encoding | "identity"): PageForm;
  /** When the URL was last found to lead to WordPress and not to a file. Milliseconds since 1970. */
  resolvedAt: number;
}

export interface PageForm {
  readonly body: Buffer;
  readonly etag: string;
  /** Name, value, name, value; without headers that differ between responses. */
  readonly head: readonly string[];
}

/** Shorter pages are not compressed. */
const worthBytes = 512;

/** Headers replaced by our own, because they depend on the encoding or the time of sending. */
const ofForm = new Set(["content-length", "etag", "vary", "date", "age", "last-modified", "accept-ranges"]);

export function keepPage(made: MadePage): CachedPage {
  const rest = made.headers.filter(([name]) => !ofForm.has(name.toLowerCase()));
  const common = [...toVisitor(rest), "Vary", varyOf(made)];
  const digest = createHash("blake2s256").update(made.body).digest("base64url").slice(0, 22);
  const identity = formOf(common, digest, "identity", made.body);
  const forms = new Map<Encoding, PageForm | null>();

  function begin(encoding: Encoding): void {
    forms.set(encoding, null);
    compress(made.body, encoding).then(
      (body) => forms.set(encoding, formOf(common, digest, encoding, body)),
      () => forms.set(encoding, identity),
    );
  }

  return {
    ...made,
    // The three compressed encodings together are smaller than the uncompressed page.
    size: made.body.length * 2 + made.ask.key.length * 2 + 2_000,
    resolvedAt: made.madeAt,
    inEncoding(encoding) {
      if (encoding === "identity" || made.body.length < worthBytes) return identity;
      if (!forms.has(encoding)) begin(encoding);
      return forms.get(encoding) ?? identity;
    },
  };
}

/** Encodings that are offered for pages. */
export const pageEncodings = offeredEncodings;

function formOf(common: readonly string[], digest: string, encoding: Encoding | "identity", body: Buffer): PageForm {
  const etag = `W/"${digest}-${encoding}"`;
  const encoded = encoding === "identity" ? [] : ["Content-Encoding", encoding];
  return { body, etag, head: [...common, ...encoded, "ETag", etag, "Content-Length", String(body.length)] };
}

function varyOf({ lifetime }: MadePage): string {
  return lifetime.variesByLanguage ? "Accept-Encoding, Accept-Language, Cookie" : "Accept-Encoding, Cookie";
}

/** Whether `place` is the page `wanted` or, for a subtree, at or below it. */
export function isAt(place: PageAddress, wanted: PageAddress, isSubtree: boolean): boolean {
  const { segments, query } = place;
  if (!isSubtree && segments.length !== wanted.segments.length) return false;
  if (wanted.segments.some((segment, at) => segments[at] !== segment)) return false;
  if (wanted.query === "") return true;
  const fields = new Set(query.slice(1).split("&"));
  return wanted.query
    .slice(1)
    .split("&")
    .every((field) => fields.has(field));
}
