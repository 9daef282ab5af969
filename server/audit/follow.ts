/** Follows a chain from seal to seal and finds the first one that does not fit. */
import { readSeals, type SealWithEntry } from "../store/company/activitySeals.ts";
import type { Database } from "../store/database.ts";
import { hashOf, type Link } from "./chain.ts";

/** Clocks are set back by less, and transactions take less. */
export const toleranceSeconds = 600;
const pageSize = 500;

export interface Break {
  /** The sequence number of the first seal that is missing or does not fit. */
  readonly sequence: number;
  /** Null if the entry is unknown. */
  readonly activityId: number | null;
  readonly reason: string;
}

export interface Followed {
  /** The last position that fits. */
  readonly end: Link;
  readonly seals: number;
  /** Null if all seals fit. */
  readonly broken: Break | null;
}

interface FollowOptions {
  readonly chain: string;
  readonly from: Link;
  /** A known position: the chain must have this hash there, and reach it. */
  readonly through?: Link;
  /** Where to stop. Absent: at the end. */
  readonly upTo?: number;
}

/** Reads the chain in pages. */
export async function follow(database: Database, options: FollowOptions): Promise<Followed> {
  const { chain, from, through = from, upTo = Number.MAX_SAFE_INTEGER } = options;
  let end = from;
  let newest = 0;
  const result = (broken: Break | null): Followed => ({ end, seals: end.sequence - from.sequence, broken });
  for (;;) {
    const page = await readSeals(database, chain, { after: end.sequence, limit: pageSize });
    for (const seal of page) {
      if (seal.sequence > upTo) return result(null);
      const reason = faultOf(seal, end, newest) ?? (differs(seal, through) ? rewritten : null);
      if (reason !== null) return result({ sequence: end.sequence + 1, activityId: idOf(seal, end), reason });
      newest = Math.max(newest, seal.entry?.created_at.getTime() ?? 0);
      end = { sequence: seal.sequence, hash: seal.hash.toString("hex") };
    }
    if (page.length < pageSize) break;
  }
  const isShort = end.sequence < Math.min(through.sequence, upTo);
  return result(isShort ? { sequence: end.sequence + 1, activityId: null, reason: cutOff(through) } : null);
}

const rewritten = "the chain was computed again: its hash differs from the one outside the database";
const cutOff = ({ sequence }: Link) => `the seals from here to ${sequence} are missing at the end of the chain`;

function differs({ sequence, hash }: SealWithEntry, through: Link): boolean {
  return sequence === through.sequence && hash.toString("hex") !== through.hash;
}

/** If a seal is missing, its entry is unknown. */
function idOf({ sequence, activity_id }: SealWithEntry, end: Link): number | null {
  return sequence === end.sequence + 1 ? activity_id : null;
}

/** What is wrong with a seal, or null. `newest` is the time of the newest entry before it, in milliseconds since 1970. */
function faultOf(seal: SealWithEntry, end: Link, newest: number): string | null {
  const { sequence, stage, entry, hash } = seal;
  if (sequence !== end.sequence + 1) return `the seals before ${sequence} are missing`;
  if (entry === null) return "the entry was deleted";
  if (!hashOf(end.hash, seal, entry).equals(hash)) return "the entry or its seal was changed";
  const isLate = stage !== "ended" && entry.created_at.getTime() < newest - toleranceSeconds * 1_000;
  return isLate ? "the entry is older than entries that were sealed before it: it was inserted later" : null;
}
