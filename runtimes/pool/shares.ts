/**
 * How companies share the workers, so that none of them can take all, whatever its sites do.
 *
 * A company's share is the maximum divided by the companies that use workers now. It may have more as long as no other company
 * wants them: requests of the company with the fewest busy workers come first, and idle workers of the company with the most
 * are ended first. A company that is below its share gets a worker even if others hold the maximum with long requests: some
 * workers above the maximum are kept for that, and those above it are ended when they become free.
 */
import type { ServedEnvironment } from "../serving.ts";
import { limitsOf } from "./limits.ts";

/** The part of a pool member that is used here. */
export interface SharedMember {
  readonly environment: Pick<ServedEnvironment, "id" | "companyId" | "limits" | "runtime">;
  readonly isBusy: boolean;
  readonly hasVisitors: boolean;
  readonly worker: { readonly lastUsed: number };
}

/**
 * A worker that was used within this time is in use: its company counts for the shares, and it is not ended for a company that
 * has its share, because it would be started again.
 */
const inUseMilliseconds = 10_000;

export function companyOf({ id, companyId }: Pick<ServedEnvironment, "id" | "companyId">): string {
  return companyId ?? id;
}

export function ofCompany<M extends SharedMember>(members: readonly M[], company: string): readonly M[] {
  return members.filter(({ environment }) => companyOf(environment) === company);
}

function isInUse({ isBusy, hasVisitors, worker }: SharedMember, now: number): boolean {
  return isBusy || (hasVisitors && now - worker.lastUsed < inUseMilliseconds);
}

/** The number of workers to which each company is entitled. `company` counts even if it uses none yet. */
export function shareOf(members: readonly SharedMember[], company: string, maxWorkers: number, now: number): number {
  const inUse = members.filter((member) => isInUse(member, now));
  const companies = new Set([company, ...inUse.map(({ environment }) => companyOf(environment))]);
  return Math.max(1, Math.floor(maxWorkers / companies.size));
}

/**
 * The number of workers above the maximum for a company that is below its share. A company that has one already leaves half of
 * them to others that have none.
 */
export function reserveForShares(maxWorkers: number, has: number): number {
  const reserve = Math.max(1, Math.floor(maxWorkers / 4));
  return has === 0 ? reserve : Math.floor(reserve / 2);
}

/** Whether the company's environments together have as many busy workers as its limit allows. */
export function isAtLimit(members: readonly SharedMember[], environment: SharedMember["environment"]): boolean {
  const most = limitsOf(environment).companyThreads ?? Number.POSITIVE_INFINITY;
  return ofCompany(members, companyOf(environment)).filter(({ isBusy }) => isBusy).length >= most;
}

export interface Wanted {
  /** The company that wants a worker. */
  readonly company: string;
  readonly maxWorkers: number;
  /** How many workers have to be ended for it. */
  readonly surplus: number;
  /** `performance.now()`. */
  readonly now: number;
}

/** Yields idle workers in the order in which they may be ended for another one. */
export function* idleInTurn<M extends SharedMember>(
  members: readonly M[],
  { company, maxWorkers, now }: Omit<Wanted, "surplus">,
): Generator<M, void> {
  const share = shareOf(members, company, maxWorkers, now);
  const counts = countByCompany(members);
  const countOf = (member: M) => counts.get(companyOf(member.environment)) ?? 0;
  const left = new Set(members.filter(({ isBusy }) => !isBusy));
  for (;;) {
    const isGreedy = (counts.get(company) ?? 0) >= share;
    const mayEnd = (member: M) =>
      companyOf(member.environment) === company || countOf(member) > share || !(isGreedy && isInUse(member, now));
    const [next] = [...left]
      .filter(mayEnd)
      .toSorted((one, other) => countOf(other) - countOf(one) || byUse(one, other));
    if (next === undefined) return;
    left.delete(next);
    counts.set(companyOf(next.environment), countOf(next) - 1);
    yield next;
  }
}

function countByCompany(members: readonly SharedMember[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { environment } of members) {
    const company = companyOf(environment);
    counts.set(company, (counts.get(company) ?? 0) + 1);
  }
  return counts;
}

/** Workers that have only done background work come first, then the least recently used. */
export function byUse(one: SharedMember, other: SharedMember): number {
  return Number(one.hasVisitors) - Number(other.hasVisitors) || one.worker.lastUsed - other.worker.lastUsed;
}
