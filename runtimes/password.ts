/**
 * Pre-hashes an administrator's password before anything is stored or sent.
 *
 * WordPress hashes `base64(HMAC-SHA384(trim(password)))` with bcrypt. The first half is done where the password
 * arrives, so that the password itself goes no further: not into the database, not to a child process.
 */
import { createHmac } from "node:crypto";

/** The characters that PHP's `trim` removes. JavaScript's would also remove no-break spaces and others. */
const phpWhitespace = " \\t\\n\\r\\0\\x0B";
const edges = new RegExp(`^[${phpWhitespace}]+|[${phpWhitespace}]+$`, "g");

/** PHP's `addslashes`. */
function slash(text: string): string {
  return text.replace(/['"\\]/g, "\\$&").replaceAll("\0", "\\0");
}

/**
 * Returns the digest for `WordPressInstall.adminPasswordDigest`: base64, 64 characters.
 *
 * WordPress adds slashes to the password in the login form, so slashes are added here too. Otherwise a password with a
 * quotation mark or a backslash would never match.
 */
export function passwordDigest(password: string): string {
  return createHmac("sha384", "wp-sha384").update(slash(password).replace(edges, ""), "utf8").digest("base64");
}
