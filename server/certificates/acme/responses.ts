/** The parts of an authority's responses that are used (RFC 8555, section 7.1). */
import * as v from "valibot";
import { AcmeProblem, AcmeUnreachable, readableDetail, shortType } from "./problems.ts";
import type { AcmeResponse } from "./request.ts";

const link = v.pipe(v.string(), v.regex(/^https:\/\//));

export const directory = v.object({ newNonce: link, newAccount: link, newOrder: link });

const problem = v.object({ type: v.optional(v.string(), "about:blank"), detail: v.optional(v.string(), "") });

export const order = v.object({
  status: v.picklist(["pending", "ready", "processing", "valid", "invalid"]),
  authorizations: v.array(link),
  finalize: link,
  certificate: v.optional(link),
  error: v.optional(problem),
});

const challenge = v.object({
  type: v.string(),
  url: link,
  token: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,200}$/))),
  status: v.string(),
  error: v.optional(problem),
});

export const authorization = v.object({
  status: v.picklist(["pending", "valid", "invalid", "deactivated", "expired", "revoked"]),
  identifier: v.object({ value: v.string() }),
  challenges: v.array(challenge),
});

export type Order = v.InferOutput<typeof order>;
export type Authorization = v.InferOutput<typeof authorization>;
export type Challenge = v.InferOutput<typeof challenge>;

/** Parses a response. Throws `AcmeUnreachable` if it does not match the schema. */
export function read<Schema extends v.GenericSchema>(schema: Schema, { text }: AcmeResponse): v.InferOutput<Schema> {
  const result = v.safeParse(schema, json(text));
  if (result.success) return result.output;
  throw new AcmeUnreachable(
    "The certificate authority's response is not ACME. Check that SITEWRIGHT_ACME_URL is its directory URL.",
  );
}

/** Turns an error response into an `AcmeProblem`. */
export function problemOf(response: AcmeResponse, now: Date): AcmeProblem {
  const result = v.safeParse(problem, json(response.text));
  const { type, detail } = result.success ? result.output : { type: "about:blank", detail: "" };
  return new AcmeProblem({
    type: shortType(type),
    status: response.status,
    detail: readableDetail(detail) || `status ${response.status}`,
    retryAfter: waitOf(response, now),
  });
}

/** Milliseconds to wait according to `Retry-After` (seconds or a date), or null. */
export function waitOf(response: AcmeResponse, now: Date): number | null {
  const text = response.header("retry-after");
  if (text === null) return null;
  const milliseconds = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : null;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
