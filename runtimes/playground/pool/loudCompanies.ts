/**
 * Decides which companies are loud, so that their processes run in the background (`processor/groups.ts`). All others get a part of
 * the processor time even while requests of other companies keep the server busy; in the background they would get none.
 * A loud company there would delay every request to the server.
 */
import { type CompanyUse, observeUse } from "./companyWeights.ts";

/** Milliseconds. Short, so that a company that becomes busy delays others for a few seconds only. */
const halfLife = 5_000;
/** Parts of all cores: a company is loud from the first one on, until it uses less than the second. */
const loudPart = 1 / 3;
const quietPart = 1 / 6;

/**
 * Returns a function that gets the milliseconds of CPU time that each company has used since the previous call, and the present time
 * in milliseconds. `cores`: of the machine.
 */
export function makeLoudRule(
  cores: number,
): (milliseconds: ReadonlyMap<string, number>, now: number) => ReadonlySet<string> {
  let use: CompanyUse = new Map();
  let loud: ReadonlySet<string> = new Set();
  return (milliseconds, now) => {
    use = observeUse(use, milliseconds, { now, halfLife });
    const isLoud = (company: string, used: number) => used >= cores * (loud.has(company) ? quietPart : loudPart);
    loud = new Set([...use].flatMap(([company, load]) => (isLoud(company, load.cores) ? [company] : [])));
    return loud;
  };
}
