/** Which plugins and themes environments have, read from their files and databases in a process of its own. */
import path from "node:path";
import { environmentFolders } from "../../../folders.ts";
import { currentRelease, partOf } from "../../../releases.ts";
import type { EnvironmentRef, InstalledPackages } from "../../../runtime.ts";
import { runJob } from "../../templates/job.ts";
import { tablePrefixOf } from "../database/tablePrefix.ts";
import { mainDatabase, recordOf } from "../release.ts";
import type { PackagesJob, PackagesRead, PackagesSource } from "./packagesJob.ts";

/** Read in one process. */
const together = 100;
const togetherSeconds = 60;
const aloneSeconds = 10;
/** Visitors come first. */
const priority = 10;

interface Wanted {
  readonly id: string;
  readonly source: PackagesSource;
}

function isPackagesRead(value: unknown): value is PackagesRead {
  return value === null || (typeof value === "object" && "packages" in value && "problem" in value);
}

async function read(job: PackagesJob, deadlineSeconds: number, signal: AbortSignal): Promise<readonly PackagesRead[]> {
  const found = await runJob("../site/packages/packagesJob.ts", job, { deadlineSeconds, priority, signal });
  if (Array.isArray(found) && found.length === job.sources.length && found.every(isPackagesRead)) return found;
  throw new Error("Reading plugins and themes came to something else.");
}

/** Null if the environment is absent or has no WordPress. */
async function wantedOf(environment: EnvironmentRef, environments: string): Promise<Wanted | null> {
  const release = await currentRelease(environmentFolders(environments, environment).live);
  if (release === null) return null;
  const facts = recordOf(release);
  if (facts.wordpressVersion === null) return null;
  const [webRoot, databases] = await Promise.all([partOf(release, "public"), partOf(release, "database")]);
  const file = path.join(databases, mainDatabase(facts));
  return { id: environment.id, source: { webRoot, file, prefix: await tablePrefixOf(webRoot) } };
}

const neverEnds: InstalledPackages = {
  packages: [],
  problem: "Reading the site's plugins and themes does not come to an end.",
};

/** One on which no reader comes to an end is found out by reading each alone. */
async function readTogether(
  all: readonly Wanted[],
  signal: AbortSignal,
): Promise<readonly (readonly [string, InstalledPackages])[]> {
  const isAlone = all.length === 1;
  try {
    const job = { sources: all.map(({ source }) => source) };
    const found = await read(job, isAlone ? aloneSeconds : togetherSeconds, signal);
    return all.flatMap(({ id }, at) => {
      const one = found[at] ?? null;
      return one === null ? [] : [[id, one] as const];
    });
  } catch {
    signal.throwIfAborted();
    if (isAlone) return all.map(({ id }) => [id, neverEnds]);
    const each: (readonly [string, InstalledPackages])[] = [];
    for (const one of all) each.push(...(await readTogether([one], signal)));
    return each;
  }
}

/** By id, without those that are absent, have no WordPress, or are just being written to. */
export async function readPackages(
  wanted: readonly EnvironmentRef[],
  environments: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, InstalledPackages>> {
  const found = new Map<string, InstalledPackages>();
  for (let done = 0; done < wanted.length; done += together) {
    const some = await Promise.all(wanted.slice(done, done + together).map((each) => wantedOf(each, environments)));
    const there = some.filter((each) => each !== null);
    if (there.length === 0) continue;
    for (const [id, packages] of await readTogether(there, signal)) found.set(id, packages);
  }
  return found;
}
