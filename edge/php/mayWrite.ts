/**
 * Decides whether a request to PHP may write. All requests may, except those with a reading method; and of these, the
 * ones that trigger actions in WordPress, and those with a body, which could not be sent to PHP twice.
 */
import type { VisitorPath } from "../http/path.ts";
import { isRestPath } from "../http/restPath.ts";
import { hasBody } from "../http/uploads.ts";
import type { VisitorRequest } from "../http/visitorHttp.ts";

const readMethods = new Set(["GET", "HEAD", "OPTIONS"]);

/** They run plugins' actions, run due events, activate accounts and fetch posts from a mailbox. */
const writeScripts = new Set([
  "/wp-admin/admin-ajax.php",
  "/wp-admin/admin-post.php",
  "/wp-cron.php",
  "/wp-activate.php",
  "/wp-mail.php",
]);

/** Query fields of action links in WordPress, of REST method overrides, of WP-Cron and of shop carts. */
const writeFields = ["_wpnonce", "_method", "doing_wp_cron", "add-to-cart", "wc-ajax"];

/** `script` is the script found by `resolve`. */
export function mayWrite(
  request: Pick<VisitorRequest, "method" | "headers" | "stream">,
  { query }: Pick<VisitorPath, "query">,
  script: string,
): boolean {
  const { method = "GET", headers } = request;
  if (!readMethods.has(method) || writeScripts.has(script)) return true;
  if (headers["x-http-method-override"] !== undefined || hasBody(request)) return true;
  const fields = new URLSearchParams(query);
  return writeFields.some((name) => fields.has(name));
}

/** Whether the client expects errors in the format of WordPress's REST API, as the block editor does. */
export function isRestRequest({ segments, query }: Pick<VisitorPath, "segments" | "query">): boolean {
  return isRestPath(segments) || new URLSearchParams(query).has("rest_route");
}
