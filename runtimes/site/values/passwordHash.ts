/** Hashes of passwords, as WordPress stores them. */
import { hash } from "bcrypt";

/** A value that no password's hash equals. */
export const noPassword = "*";

/** The default cost of PHP's `password_hash`. */
const cost = 10;

/**
 * Returns the hash that WordPress stores for a password with this digest (`runtimes/password.ts`). WordPress marks its
 * scheme with `$wp`, and PHP writes bcrypt as `$2y$`: `$2b$` is equivalent, but would be rehashed at the first login.
 */
export async function hashPassword(digest: string): Promise<string> {
  return `$wp${(await hash(digest, cost)).replace(/^\$2[ab]\$/, "$2y$")}`;
}
