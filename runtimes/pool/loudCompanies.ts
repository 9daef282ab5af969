/**
 * Decides which companies are loud, so that their processes run in the background (`processor/groups.ts`). The quietest companies that
 * together use half of the machine are not, so that on two processors a single process never is: they get a part of the processor time even while requests of other companies keep the
 * server busy, and in the background they would get none. With more in the foreground, every request to the server would wait for
 * their processes.
 */
import { type CompanyUse, observeUse } from "./companyWeights.ts";

/** Milliseconds. Short, so that a company that becomes busy delays others for a few seconds only. */
const halfLife = 5_000;
/** Parts of all cores that the quiet companies together use at most. A loud company becomes quiet within the second one. */
const quietPart = 0.5;
const returnPart = 0.2;

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
    let together = 0;
    const louder: string[] = [];
    for (const [company, load] of [...use].toSorted(([, one], [, other]) => one.cores - other.cores)) {
      together += load.cores;
      if (together > cores * (loud.has(company) ? returnPart : quietPart)) louder.push(company);
    }
    loud = new Set(louder);
    return loud;
  };
}
