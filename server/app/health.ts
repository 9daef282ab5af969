/** Whether the database answers. */
import type { Database } from "@sitewright/server/store/database.ts";
import { ping } from "@sitewright/server/store/ping.ts";

const patienceMilliseconds = 3_000;

export async function isDatabaseUp(database: Database): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), patienceMilliseconds);
  const answered = ping(database).then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answered, late]);
  } finally {
    clearTimeout(timer);
  }
}
