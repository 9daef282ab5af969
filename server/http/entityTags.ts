/** Entity tags: clients that poll get a short 304 as long as nothing has changed. */
import { hash } from "node:crypto";
import type { FinishedAnswer } from "@sitewright/server/app/idempotency.ts";

/** Only the client may store it, and must ask each time whether it is current. */
const cacheControl = "private, no-cache";

/** Returns the tag of a body. Equal bodies have equal tags. */
export function entityTagOf(body: string | Buffer): string {
  return `"${hash("sha1", body, "base64url")}"`;
}

const tagsOfParts = new WeakMap<Buffer, string>();

/** Like `entityTagOf`. Parts are often the same as in an earlier body, so each is read only once. */
export function entityTagOfParts(parts: readonly Buffer[]): string {
  const tags = parts.map((part) => {
    const tag = tagsOfParts.get(part) ?? entityTagOf(part);
    tagsOfParts.set(part, tag);
    return tag;
  });
  return entityTagOf(tags.join());
}

/** Adds the tag to a response, or replaces the response if `condition`, the header `If-None-Match`, has the tag. */
export function unlessUnchanged<Body>(
  answer: FinishedAnswer<Body>,
  tag: string,
  condition: string | undefined,
): FinishedAnswer<Body | null> {
  if (isCurrent(condition, tag)) return notModified(tag);
  return { ...answer, headers: { ...answer.headers, ...tagHeaders(tag) } };
}

export function tagHeaders(tag: string) {
  return { etag: tag, "cache-control": cacheControl };
}

export function notModified(tag: string): FinishedAnswer<null> {
  return { status: 304, headers: tagHeaders(tag), body: null };
}

/** Whether the header `If-None-Match` has this tag. Proxies may have made it weak. */
export function isCurrent(condition: string | undefined, tag: string): boolean {
  if (condition === undefined) return false;
  if (condition === tag || condition.trim() === "*") return true;
  return condition.split(",").some((listed) => listed.trim().replace(/^W\//, "") === tag);
}
