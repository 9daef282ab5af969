/** Locks of files in the data folder that rows of the database need: the keys, and the newest hashes of the activity log. */
import type pg from "pg";
import { sealingLock } from "./company/activitySeals.ts";
import { rotationLock } from "./sealedValues.ts";

const locks = [rotationLock, sealingLock];

/** Waits until no other process changes these files. The locks belong to the connection and outlast transactions. */
export async function lockFiles(client: pg.ClientBase): Promise<void> {
  for (const lock of locks) await client.query("select pg_advisory_lock($1)", [lock]);
}

export async function unlockFiles(client: pg.ClientBase): Promise<void> {
  for (const lock of locks) await client.query("select pg_advisory_unlock($1)", [lock]);
}
