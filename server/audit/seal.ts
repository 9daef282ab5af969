/**
 * Seals new entries of the activity log, seconds after they are committed: requests don't wait for it, and no transaction
 * holds a lock on the end of a chain. If the process is killed between the commit and the file of heads, the next run finds
 * the newest seals in the database and checks that they continue the chain.
 */

import type { UnsealedEntry } from "../store/company/activitySeals.ts";
import {
  hasUnsealed,
  insertSeals,
  lastSequence,
  lockUnsealed,
  operatorChain,
  unlessSealing,
} from "../store/company/activitySeals.ts";
import type { Database, DatabaseTransaction, SealStage } from "../store/database.ts";
import { hashOf, type Link } from "./chain.ts";
import { follow } from "./follow.ts";
import { type ChainHead, headOf, readHeads, writeHeads } from "./heads.ts";

const batchSize = 500;

interface SealOptions {
  readonly database: Database;
  /** The data folder. */
  readonly data: string;
}

/** Seals all unsealed entries, unless another process is doing so. */
export async function sealActivity({ database, data }: SealOptions): Promise<void> {
  if (!(await hasUnsealed(database))) return;
  await unlessSealing(database, async (own) => {
    for (let sealed = batchSize; sealed === batchSize; ) sealed = await sealBatch(own, data);
  });
}

/** Returns the number of sealed entries. */
async function sealBatch(database: Database, data: string): Promise<number> {
  const heads = new Map(await readHeads(data));
  const count = await database.transaction().execute(async (transaction) => {
    const entries = await lockUnsealed(transaction, batchSize);
    for (const [chain, ofChain] of Map.groupBy(entries, (entry) => entry.company_id ?? operatorChain)) {
      const known = headOf(heads, chain);
      const head = await sealEntries(transaction, chain, await newestHead(transaction, chain, known), ofChain);
      heads.set(chain, { ...known, head });
    }
    forgetDeleted(heads, entries);
    return entries.length;
  });
  if (count > 0) await writeHeads(data, heads);
  return count;
}

/**
 * The position that the next seal continues: the known head, or newer seals if they fit. Seals that don't fit are not
 * continued, so that their break stays visible.
 */
async function newestHead(transaction: DatabaseTransaction, chain: string, { head }: ChainHead): Promise<Link> {
  const last = await lastSequence(transaction, chain);
  if (last <= head.sequence) return head;
  const { end, broken } = await follow(transaction, { chain, from: head });
  return broken === null ? end : { sequence: last, hash: end.hash };
}

async function sealEntries(
  transaction: DatabaseTransaction,
  chain: string,
  from: Link,
  entries: readonly UnsealedEntry[],
): Promise<Link> {
  let end = from;
  const sealed_at = new Date();
  const seals = entries.map((entry) => {
    const stage = stageOf(entry);
    const seal = { chain, sequence: end.sequence + 1, activity_id: entry.id, stage, sealed_at };
    const hash = hashOf(end.hash, seal, entry);
    end = { sequence: seal.sequence, hash: hash.toString("hex") };
    return { ...seal, hash };
  });
  await insertSeals(transaction, seals);
  return end;
}

function stageOf({ is_done, has_begun }: UnsealedEntry): SealStage {
  if (!is_done) return "begun";
  return has_begun ? "ended" : "whole";
}

/** Removes the heads of deleted companies: nothing of their chains is left. */
function forgetDeleted(heads: Map<string, ChainHead>, entries: readonly UnsealedEntry[]): void {
  for (const { company_id, type, parameters } of entries) {
    if (company_id === null && type === "deleteCompany") heads.delete(parameters.companyId ?? "");
  }
}
