import type { Database } from "@sitewright/server/store/database.ts";
import { ping } from "@sitewright/server/store/ping.ts";

const timeoutMilliseconds = 3_000;

/** Returns whether the database answers in time. */
export async function isDatabaseUp(database: Database): Promise<boolean> {
  const { promise: timedOut, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), timeoutMilliseconds);
  const answered = ping(database).then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answered, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}
