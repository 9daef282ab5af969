/**
 * How companies share the workers, so that none of them can take all, whatever its sites do.
 *
 * A company's share is the maximum divided by the companies that have workers now. It may have more as long as nobody else
 * wants them: requests of the company with the fewest busy workers come first, and idle workers of the company with the most
 * are ended first. A company that is below its share gets a worker even if others hold the maximum with long requests: some
 * workers above the maximum are kept for that, and those above it are ended when they become free.
 */
import type { ServedEnvironment } from "../../serving.ts";
import { limitsOf } from "./limits.ts";

/** The part of a pool member that is used here. */
export interface SharedMember {
  readonly environment: Pick<ServedEnvironment, "id" | "companyId" | "limits">;
  readonly isBusy: boolean;
  readonly hasVisitors: boolean;
  readonly worker: { readonly lastUsed: number };
}

/** An idle worker that was used within this time is not ended for a company above its share: it would be started again. */
const protectedMilliseconds = 30_000;

export function companyOf({ id, companyId }: Pick<ServedEnvironment, "id" | "companyId">): string {
  return companyId ?? id;
}

export function ofCompany<M extends SharedMember>(members: readonly M[], company: string): readonly M[] {
  return members.filter(({ environment }) => companyOf(environment) === company);
}

/** The number of workers to which each company is entitled. `company` counts even if it has none yet. */
export function shareOf(members: readonly SharedMember[], company: string, maxWorkers: number): number {
  const companies = new Set([company, ...members.map(({ environment }) => companyOf(environment))]);
  return Math.max(1, Math.floor(maxWorkers / companies.size));
}

/** The number of workers above the maximum for companies that are below their share. */
export function reserveForShares(maxWorkers: number): number {
  return Math.max(1, Math.floor(maxWorkers / 4));
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

/** Chooses idle workers to end for another one. Null if there are not enough. */
export function chooseToEnd<M extends SharedMember>(
  members: readonly M[],
  { company, maxWorkers, surplus, now }: Wanted,
): readonly M[] | null {
  const chosen: M[] = [];
  while (chosen.length < surplus) {
    const next = chooseOne(
      members.filter((member) => !chosen.includes(member)),
      { company, maxWorkers, now },
    );
    if (next === null) return null;
    chosen.push(next);
  }
  return chosen;
}

function chooseOne<M extends SharedMember>(
  members: readonly M[],
  { company, maxWorkers, now }: Omit<Wanted, "surplus">,
): M | null {
  const share = shareOf(members, company, maxWorkers);
  const countOf = (other: string) => ofCompany(members, other).length;
  const isGreedy = countOf(company) >= share;
  const idle = members.filter((member) => {
    if (member.isBusy) return false;
    const owner = companyOf(member.environment);
    const isProtected = member.hasVisitors && now - member.worker.lastUsed < protectedMilliseconds;
    return owner === company || countOf(owner) > share || !(isGreedy && isProtected);
  });
  const [first] = idle.toSorted(
    (one, other) =>
      countOf(companyOf(other.environment)) - countOf(companyOf(one.environment)) ||
      Number(one.hasVisitors) - Number(other.hasVisitors) ||
      one.worker.lastUsed - other.worker.lastUsed,
  );
  return first ?? null;
}
