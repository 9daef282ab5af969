/**
 * The password of a WordPress's first administrator. Making bcrypt's hash takes a tenth of a second, for which nobody
 * should wait to see a new site: its database begins without one, and gets it while visitors are already served.
 *
 * This is the only place where a database is written that PHP may have open. It is safe because nobody could log in
 * before: whatever PHP ran there is WordPress's own code.
 */
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { hash } from "bcrypt";
import { partOf } from "../../../releases.ts";
import { RuntimeFailure } from "../../../runtime.ts";
import { isBusy } from "../copy/copyDatabase.ts";
import { mainDatabase, recordOf, reportFullDisk, requireRelease } from "../release.ts";

/** What no password's hash is equal to. */
export const noPassword = "*";

/** As PHP's `password_hash` uses it. */
const cost = 10;

const pauseMilliseconds = 10;
const patienceMilliseconds = 20_000;

/**
 * What WordPress stores for a password whose digest this is (`runtimes/password.ts`). WordPress marks its own scheme
 * with `$wp`, and PHP writes bcrypt as `$2y$`: `$2b$` is equivalent, but would be rehashed at the first login.
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

/** Waits beside the event loop while PHP is writing. */
async function writeWhenFree(file: string, passwordHash: string): Promise<void> {
  const deadline = performance.now() + patienceMilliseconds;
  for (;;) {
    try {
      return write(file, passwordHash);
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() > deadline) {
        const sentence = "The new site's database is in use without a pause, so that the password can't be set.";
        throw new RuntimeFailure(sentence, { cause: error });
      }
    }
    await delay(pauseMilliseconds);
  }
}

/** `live` is the environment's folder. Changes nothing where there is a password, or no WordPress. */
export async function setAdminPassword(live: string, digest: string): Promise<void> {
  const release = await requireRelease(live);
  const facts = recordOf(release);
  if (facts.wordpressVersion === null) return;
  const passwordHash = await hashPassword(digest);
  const file = path.join(await partOf(release, "database"), mainDatabase(facts));
  await reportFullDisk(() => writeWhenFree(file, passwordHash));
}
