/**
 * What becomes of an administrator's password before anything is stored or sent.
 *
 * WordPress hashes `base64(HMAC-SHA384(trim(password)))` with bcrypt. Doing the first half where the password
 * arrives means that the password itself goes no further: not into the database, not into a child process.
 */
import { createHmac } from "node:crypto";

/** What PHP's `trim` removes; JavaScript's would also remove no-break spaces and the like. */
const phpWhitespace = " \\t\\n\\r\\0\\x0B";
const edges = new RegExp(`^[${phpWhitespace}]+|[${phpWhitespace}]+$`, "g");

/** PHP's `addslashes`. */
function slash(text: string): string {
  return text.replace(/['"\\]/g, "\\$&").replaceAll("\0", "\\0");
}

/**
 * The digest that `WordPressInstall.adminPasswordDigest` wants: base64, 64 characters.
 *
 * The login form checks a password as WordPress has slashed it, so it is slashed here too: otherwise one with
 * a quotation mark or a backslash would never log in.
 */
export function passwordDigest(password: string): string {
  return createHmac("sha384", "wp-sha384").update(slash(password).replace(edges, ""), "utf8").digest("base64");
}
