/**
 * Shares the memory for workers by what they really use. A worker may use more than its allocation (`maxProcessBytes`), but
 * only while no other needs that memory: idle workers are ended first, then a worker above its allocation is killed, of the
 * company that uses the most. A worker within its allocation, or of a company within its share, is never killed for others.
 */

import { allocatedBytes, restingBytesOf } from "../memoryLimits.ts";
import { limitsOf } from "./limits.ts";
import { byUse, companyOf, idleInTurn, ofCompany, type SharedMember, type Wanted } from "./shares.ts";

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
  return living.reduce(
    (sum, { worker, environment }) => sum + Math.max(worker.rssBytes, restingBytesOf(environment)),
    0,
  );
}

function excessOf({ worker, environment }: SizedMember): number {
  return worker.rssBytes - allocatedBytes(environment, limitsOf(environment).memoryMb);
}

/**
 * Returns the worker that is furthest above its allocation, of the company that uses the most memory; null if no worker of a
 * company above its share of the memory is above its allocation.
 */
function mostExcessive<M extends SizedMember>(members: readonly M[], shareBytes: number): M | null {
  const [largest] = [...Map.groupBy(members, ({ environment }) => companyOf(environment)).values()]
    .filter((own) => usedBytes(own) > shareBytes && own.some(isAbove))
    .toSorted((one, other) => usedBytes(other) - usedBytes(one));
  return largest?.filter(isAbove).toSorted((one, other) => excessOf(other) - excessOf(one))[0] ?? null;
}

function companiesOf(members: readonly SizedMember[]): Set<string> {
  return new Set(members.map(({ environment }) => companyOf(environment)));
}

function isAbove(member: SizedMember): boolean {
  return !member.worker.isBroken && excessOf(member) > 0;
}

/**
 * Chooses what to end for one more worker. Null if it must wait. A company without a worker never waits for memory: others
 * could keep it out by using theirs within their allocations. Only for a company below its share of memory is a worker killed.
 */
export function makeRoomFor<M extends SizedMember>(
  members: readonly M[],
  wanted: Wanted & { readonly restingBytes: number },
  budgetBytes: number,
): Room<M> | null {
  const idle = idleInTurn(members, wanted);
  const ending: M[] = [];
  let used = usedBytes(members) + wanted.restingBytes;
  const endNext = (): boolean => {
    const { value } = idle.next();
    if (value === undefined) return false;
    ending.push(value);
    used -= usedBytes([value]);
    return true;
  };
  while (ending.length < wanted.surplus) if (!endNext()) return null;
  const fewest = [...ending];
  while (used > budgetBytes && endNext());
  if (used <= budgetBytes) return { ending, killing: null };
  const own = ofCompany(members, wanted.company);
  const share = budgetBytes / companiesOf(members).add(wanted.company).size;
  const killing = usedBytes(own) + wanted.restingBytes <= share ? mostExcessive(members, share) : null;
  return killing !== null || own.length === 0 ? { ending: fewest, killing } : null;
}

/** Chooses what to end because workers have grown beyond the budget. */
export function relieve<M extends SizedMember>(members: readonly M[], budgetBytes: number): Room<M> {
  const left = new Set(members);
  let used = usedBytes(members);
  const ending: M[] = [];
  for (const member of members.filter(({ isBusy }) => !isBusy).toSorted(byUse)) {
    if (used <= budgetBytes) break;
    ending.push(member);
    left.delete(member);
    used -= usedBytes([member]);
  }
  return {
    ending,
    killing: used <= budgetBytes ? null : mostExcessive([...left], budgetBytes / companiesOf(members).size),
  };
}
