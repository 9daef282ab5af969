/**
 * The weight of each company's control group (`processor/groups.ts`), which follows from what its processes used recently. With equal
 * weights a single process of a quiet company waits for the many of a busy one: the system divides a group's weight between the
 * processors that it runs on. So companies that used less than others come first, until they have used as much.
 */
import { type Load, observe } from "./fairness.ts";

/** Half-life of the loads that decide on weights. Milliseconds. */
export const weightHalfLife = 20_000;
/** The smallest weight, relative to the usual one, and the largest one relative to it. */
const smallest = 1 / 8;
const range = 64;
/** Less than that is as good as nothing. */
const smallestCores = 0.02;
const forgottenCores = 0.001;

/** CPU cores that each company used recently, by company. */
export type CompanyUse = ReadonlyMap<string, Load>;

/**
 * Returns the use after each company has used these milliseconds of CPU time until `now`. After `halfLife` (ms) the past counts half.
 * Companies that have used nothing for a while are forgotten.
 */
export function observeUse(
  before: CompanyUse,
  milliseconds: ReadonlyMap<string, number>,
  { now, halfLife }: { readonly now: number; readonly halfLife: number },
): CompanyUse {
  // A new company is taken for one that has used nothing for a while.
  const none = { cores: 0, at: Math.min(now, ...[...before.values()].map(({ at }) => at)) };
  const companies = new Set([...before.keys(), ...milliseconds.keys()]);
  const after = [...companies].map((company): [string, Load] => [
    company,
    observe(before.get(company) ?? none, milliseconds.get(company) ?? 0, now, halfLife),
  ]);
  return new Map(after.filter(([company, { cores }]) => milliseconds.has(company) || cores >= forgottenCores));
}

/** Returns each company's weight, relative to the usual one. The company that uses most has the smallest. */
export function weightsOf(use: CompanyUse): ReadonlyMap<string, number> {
  const largest = Math.max(...[...use.values()].map(({ cores }) => cores));
  return new Map([...use].map(([company, { cores }]) => [company, smallest * partOf(cores, largest)]));
}

/** Returns the weight relative to that of the company that uses the most. */
function partOf(cores: number, largest: number): number {
  const ratio = (largest / Math.max(cores, smallestCores)) ** 2;
  // In powers of two, so that the system's settings rarely change.
  return 2 ** Math.round(Math.log2(Math.min(range, Math.max(1, ratio))));
}
