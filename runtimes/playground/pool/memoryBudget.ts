/**
 * Shares the memory for workers by what they really use. A worker may use more than its allocation (`maxProcessBytes`), but
 * only while nobody else needs that memory: idle workers are ended first, then the worker that is furthest above its
 * allocation is killed. A worker within its allocation is never killed for others.
 */
import { limitsOf } from "./limits.ts";
import { allocatedBytes, restingBytes } from "./memoryLimits.ts";
import { chooseToEnd, ofCompany, type SharedMember, type Wanted } from "./shares.ts";

export interface SizedMember extends SharedMember {
  readonly worker: SharedMember["worker"] & {
    /** The latest measurement. */
    readonly rssBytes: number;
    /** Whether it has been killed. */
    readonly isBroken: boolean;
  };
}

/** What is ended for another worker. */
export interface Room<M> {
  /** Idle workers. */
  readonly ending: readonly M[];
  /** A busy worker that must be killed, or null. */
  readonly killing: M | null;
}

export function usedBytes(members: readonly SizedMember[]): number {
  const living = members.filter(({ worker }) => !worker.isBroken);
  return living.reduce((sum, { worker }) => sum + Math.max(worker.rssBytes, restingBytes), 0);
}

function excessOf({ worker, environment }: SizedMember): number {
  return worker.rssBytes - allocatedBytes(limitsOf(environment).memoryMb);
}

/** Returns the worker that is furthest above its allocation, or null if none is above. */
function mostExcessive<M extends SizedMember>(members: readonly M[]): M | null {
  const above = members.filter((member) => !member.worker.isBroken && excessOf(member) > 0);
  return above.toSorted((one, other) => excessOf(other) - excessOf(one))[0] ?? null;
}

/**
 * Chooses what to end for one more worker. Null if it must wait. A company without a worker never waits for memory: others
 * could keep it out by using theirs within their allocations.
 */
export function makeRoomFor<M extends SizedMember>(
  members: readonly M[],
  wanted: Wanted,
  budgetBytes: number,
): Room<M> | null {
  const fewest = chooseToEnd(members, wanted);
  if (fewest === null) return null;
  for (let surplus = Math.max(0, wanted.surplus); surplus <= members.length; surplus += 1) {
    const ending = chooseToEnd(members, { ...wanted, surplus });
    if (ending === null) break;
    const left = members.filter((member) => !ending.includes(member));
    if (usedBytes(left) + restingBytes <= budgetBytes) return { ending, killing: null };
  }
  const killing = mostExcessive(members);
  const isFirst = ofCompany(members, wanted.company).length === 0;
  return killing !== null || isFirst ? { ending: fewest, killing } : null;
}

/** Chooses what to end because workers have grown beyond the budget. */
export function relieve<M extends SizedMember>(members: readonly M[], budgetBytes: number): Room<M> {
  const idle = members
    .filter(({ isBusy }) => !isBusy)
    .toSorted((one, other) => one.worker.lastUsed - other.worker.lastUsed);
  const ending: M[] = [];
  const left = () => members.filter((member) => !ending.includes(member));
  for (const member of idle) {
    if (usedBytes(left()) <= budgetBytes) break;
    ending.push(member);
  }
  return { ending, killing: usedBytes(left()) <= budgetBytes ? null : mostExcessive(left()) };
}
