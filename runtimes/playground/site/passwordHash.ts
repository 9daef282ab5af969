/** bcrypt takes a tenth of a second of pure computing: the library does it in a thread, beside the copying. */
import { hash } from "bcrypt";

/** As PHP's `password_hash` uses it. */
const cost = 10;

/**
 * What WordPress stores for a password whose digest this is (`runtimes/password.ts`). WordPress marks its own scheme
 * with `$wp`, and PHP writes bcrypt as `$2y$`: `$2b$` is the same, but would be hashed anew at the first login.
 */
export async function hashPassword(digest: string): Promise<string> {
  return `$wp${(await hash(digest, cost)).replace(/^\$2[ab]\$/, "$2y$")}`;
}
