/**
 * Sets the password of a WordPress's first administrator. A bcrypt hash takes a tenth of a second, which should not
 * delay a new site: its database starts without a password, and gets it while visitors are already served.
 *
 * This is the only place that writes a database PHP may have open. It is safe because no one could log in before, so
 * PHP has only run WordPress core there.
 */
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { hash } from "bcrypt";
import { partOf, requireRelease } from "../../../releases.ts";
import { RuntimeFailure } from "../../../runtime.ts";
import { isBusy } from "../copy/copyDatabase.ts";
import { mainDatabase, recordOf, reportFullDisk } from "../release.ts";

/** A value that no password's hash equals. */
export const noPassword = "*";

/** The default cost of PHP's `password_hash`. */
const cost = 10;

const pauseMilliseconds = 10;
const lockTimeoutMilliseconds = 20_000;

/**
 * Returns the hash that WordPress stores for a password with this digest (`runtimes/password.ts`). WordPress marks its
 * scheme with `$wp`, and PHP writes bcrypt as `$2y$`: `$2b$` is equivalent, but would be rehashed at the first login.
 */
export async function hashPassword(digest: string): Promise<string> {
  return `$wp${(await hash(digest, cost)).replace(/^\$2[ab]\$/, "$2y$")}`;
}

function write(file: string, passwordHash: string): void {
  const database = new DatabaseSync(file);
  try {
    database.prepare("UPDATE wp_users SET user_pass = ? WHERE ID = 1 AND user_pass = ?").run(passwordHash, noPassword);
  } finally {
    database.close();
  }
}

/** Writes when PHP is not writing. Waits without blocking the event loop. */
async function writeWhenFree(file: string, passwordHash: string): Promise<void> {
  const deadline = performance.now() + lockTimeoutMilliseconds;
  for (;;) {
    try {
      return write(file, passwordHash);
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() > deadline) {
        const sentence = "The password can't be set, because the new site's database is in constant use.";
        throw new RuntimeFailure(sentence, { cause: error });
      }
    }
    await delay(pauseMilliseconds);
  }
}

/**
 * Implements `Runtime.setAdminPassword`. `live` is the environment's folder. Does nothing if there is a password, or no
 * WordPress.
 */
export async function setAdminPassword(live: string, digest: string): Promise<void> {
  const release = await requireRelease(live);
  const facts = recordOf(release);
  if (facts.wordpressVersion === null) return;
  const passwordHash = await hashPassword(digest);
  const file = path.join(await partOf(release, "database"), mainDatabase(facts));
  await reportFullDisk(() => writeWhenFree(file, passwordHash));
}
