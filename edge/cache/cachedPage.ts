/** A page that was kept: what is sent of it, in each form that browsers take. */
import { createHash } from "node:crypto";
import { compress } from "../http/compress.ts";
import { type Encoding, offeredEncodings } from "../http/encodings.ts";
import { toVisitor } from "../http/headers.ts";
import type { Lifetime } from "./lifetime.ts";
import type { PageAddress, PageAsk } from "./pageAsk.ts";

type Headers = readonly (readonly [name: string, value: string])[];

/** What PHP has made. */
export interface MadePage {
  readonly ask: Pick<PageAsk, "environmentId" | "key" | "place">;
  readonly headers: Headers;
  readonly body: Buffer;
  /** Milliseconds since 1970. */
  readonly madeAt: number;
  readonly lifetime: Lifetime;
}

export interface CachedPage extends MadePage {
  /** In bytes, with all its forms, about. */
  readonly size: number;
  /** The form that is wanted; as it is, the first time, while that form is being made. */
  inEncoding(encoding: Encoding | "identity"): PageForm;
  /** When the address was last seen to lead to WordPress, and to no file. Milliseconds since 1970. */
  resolvedAt: number;
}

export interface PageForm {
  readonly body: Buffer;
  readonly etag: string;
  /** Flat: name, value, name, value; all but those that change with each answer. */
  readonly head: readonly string[];
}

/** Shorter pages get no shorter. */
const worthBytes = 512;

/** Others' validators are for the form that they made; ours are for each form. */
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
    // Three compressed forms together take less than the page as it is.
    size: made.body.length * 2 + made.ask.key.length * 2 + 2_000,
    resolvedAt: made.madeAt,
    inEncoding(encoding) {
      if (encoding === "identity" || made.body.length < worthBytes) return identity;
      if (!forms.has(encoding)) begin(encoding);
      return forms.get(encoding) ?? identity;
    },
  };
}

/** Of pages, all forms that there are may be asked for. */
export const pageEncodings = offeredEncodings;

function formOf(common: readonly string[], digest: string, encoding: Encoding | "identity", body: Buffer): PageForm {
  const etag = `W/"${digest}-${encoding}"`;
  const encoded = encoding === "identity" ? [] : ["Content-Encoding", encoding];
  return { body, etag, head: [...common, ...encoded, "ETag", etag, "Content-Length", String(body.length)] };
}

function varyOf({ lifetime }: MadePage): string {
  return lifetime.variesByLanguage ? "Accept-Encoding, Accept-Language, Cookie" : "Accept-Encoding, Cookie";
}

/** Whether the page is at this place or, as a subtree, below it. */
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
