/** Which processes are in the control groups of companies. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { environmentCompanies } from "../processor/environments.ts";
import { companiesIn, type Groups } from "../processor/groups.ts";

/** Returns the ids of the processes of each company that has a group. */
export function companyProcesses({ background, foreground }: Groups): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, readonly number[]>();
  for (const folder of [background, foreground, environmentCompanies() ?? ""]) {
    for (const company of companiesIn(folder)) {
      found.set(company, [...(found.get(company) ?? []), ...processesOf(path.join(folder, company))]);
    }
  }
  return found;
}

/** Also the processes of groups in the group. */
function processesOf(group: string): readonly number[] {
  const own = readFileSync(path.join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number);
  return [...own, ...companiesIn(group).flatMap((name) => processesOf(path.join(group, name)))];
}
