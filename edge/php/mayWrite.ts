/**
 * Whether a request to PHP may be meant to write something. Everything may, but what browsers send for reading; and
 * of that again a part: what WordPress takes orders from although it came as a GET, and what has something with it,
 * which could not be asked twice.
 */
import type { VisitorPath } from "../http/path.ts";
import { hasBody } from "../http/uploads.ts";
import type { VisitorRequest } from "../http/visitorHttp.ts";

const readingMethods = new Set(["GET", "HEAD", "OPTIONS"]);

/** They do what plugins tell them to, run events that are due, confirm a registration, fetch posts from a mailbox. */
const writingScripts = new Set([
  "/wp-admin/admin-ajax.php",
  "/wp-admin/admin-post.php",
  "/wp-cron.php",
  "/wp-activate.php",
  "/wp-mail.php",
]);

/**
 * The nonce with which WordPress's links for changing something are signed, the REST interface's real method, events
 * that are run by any page, and what a shop's visitors put into their carts.
 */
const writingFields = ["_wpnonce", "_method", "doing_wp_cron", "add-to-cart", "wc-ajax"];

/** `script` is the one that `resolve` has found, wherever a network of sites has it. */
export function mayWrite(
  request: Pick<VisitorRequest, "method" | "headers" | "stream">,
  { query }: Pick<VisitorPath, "query">,
  script: string,
): boolean {
  const { method = "GET", headers } = request;
  if (!readingMethods.has(method) || writingScripts.has(script)) return true;
  if (headers["x-http-method-override"] !== undefined || hasBody(request)) return true;
  const fields = new URLSearchParams(query);
  return writingFields.some((name) => fields.has(name));
}

/** Whether the client expects errors in the format of WordPress's REST API, as the block editor does. */
export function isForRest({ segments, query }: Pick<VisitorPath, "segments" | "query">): boolean {
  // In a network of subdirectories, a site's own folder stands before it.
  return segments.slice(0, 2).includes("wp-json") || new URLSearchParams(query).has("rest_route");
}
