/** Verifies the hash chains of the activity log. */
import { isDeletedCompany, listChains, listUncovered, operatorChain } from "../store/company/activitySeals.ts";
import type { Database } from "../store/database.ts";
import type { Link } from "./chain.ts";
import { type Break, follow, toleranceSeconds } from "./follow.ts";
import { type Heads, headOf } from "./heads.ts";

export interface ChainReport {
  /** Null for the operator's own entries. */
  readonly companyId: string | null;
  /** Number of verified seals. */
  readonly seals: number;
  /** Number of entries that the next run of the sealing will cover. */
  readonly waiting: number;
  readonly head: Link;
  /** Null if the chain is intact. */
  readonly broken: Break | null;
}

/** Verifies all chains. `heads` must have been read before the call, because chains grow meanwhile. */
export async function verifyActivity(database: Database, heads: Heads): Promise<ChainReport[]> {
  const chains = new Set([operatorChain, ...heads.keys(), ...(await listChains(database))]);
  const reports: ChainReport[] = [];
  for (const chain of chains) reports.push(await verifyChain(database, heads, chain));
  return reports;
}

async function verifyChain(database: Database, heads: Heads, chain: string): Promise<ChainReport> {
  const companyId = chain === operatorChain ? null : chain;
  const { start, head } = headOf(heads, chain);
  const { end, seals, broken } = await follow(database, { chain, from: start, through: head });
  const report = { companyId, seals, waiting: 0, head: end, broken };
  if (broken !== null) {
    const wasDeleted = seals === 0 && companyId !== null && (await isDeletedCompany(database, companyId));
    return { ...report, broken: wasDeleted ? null : broken };
  }
  const uncovered = await listUncovered(database, chain, toleranceSeconds);
  const foreign = uncovered.find(({ is_waiting }) => !is_waiting);
  if (foreign === undefined) return { ...report, waiting: uncovered.length };
  const reason = "the entry is not in the chain: it was inserted past Sitewright, or its seal was removed";
  return { ...report, broken: { sequence: end.sequence + 1, activityId: foreign.id, reason } };
}
