/**
 * Stores the password of a WordPress's first administrator. This is the only place that writes a database PHP may have open.
 * It is safe because no one could log in before, so PHP has only run WordPress core there.
 */
import { setTimeout as delay } from "node:timers/promises";
import { RuntimeFailure } from "../runtime.ts";
import { noPassword } from "../site/values/passwordHash.ts";
import { isBusy } from "./copyDatabase.ts";
import { withDatabase } from "./withDatabase.ts";

const pauseMilliseconds = 10;
const lockTimeoutMilliseconds = 20_000;

function write(file: string, passwordHash: string): void {
  const statement = "UPDATE wp_users SET user_pass = ? WHERE ID = 1 AND user_pass = ?";
  withDatabase(file, (database) => database.prepare(statement).run(passwordHash, noPassword));
}

/** Writes when PHP is not writing. Waits without blocking the event loop. Does nothing if there is a password. */
export async function setPassword(file: string, passwordHash: string): Promise<void> {
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
