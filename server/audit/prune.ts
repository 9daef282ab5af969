/** Removes old entries of the activity log. What is left can still be verified, from the last removed seal on. */
import { findPrunable, listChains, pruneChain, unlessSealing } from "../store/company/activitySeals.ts";
import type { Database } from "../store/database.ts";
import { follow } from "./follow.ts";
import { headOf, readHeads, writeHeads } from "./heads.ts";

const batchSize = 1_000;

interface PruneOptions {
  readonly database: Database;
  /** The data folder. */
  readonly data: string;
  readonly days: number;
}

/** Removes entries older than `days`, except those of stored operations, and those from the first break of a chain on. */
export async function pruneActivity({ database, data, days }: PruneOptions): Promise<void> {
  for (const chain of await listChains(database)) {
    // One lock per batch, so that new entries are sealed in between. Without it, the next run continues.
    while (await unlessSealing(database, (own) => pruneBatch({ database: own, data, days }, chain)));
  }
}

/** Returns whether there may be more to remove. */
async function pruneBatch({ database, data, days }: PruneOptions, chain: string): Promise<boolean> {
  const heads = await readHeads(data);
  const { start, head } = headOf(heads, chain);
  const oldest = await findPrunable(database, chain, { after: start.sequence, days, limit: batchSize });
  if (oldest === null || oldest.sequence > head.sequence) return false;
  const { broken } = await follow(database, { chain, from: start, through: head, upTo: oldest.sequence });
  if (broken !== null) return false;
  const next = { sequence: oldest.sequence, hash: oldest.hash.toString("hex") };
  // First the file: seals before the start of a chain are ignored, but missing ones after it are a break.
  await writeHeads(data, new Map(heads).set(chain, { start: next, head }));
  await database.transaction().execute((transaction) => pruneChain(transaction, chain, next.sequence));
  return true;
}
