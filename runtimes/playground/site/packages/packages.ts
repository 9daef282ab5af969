/** Lists the plugins and themes of environments, read from their files and databases in a separate process. */
import path from "node:path";
import type { Confinement } from "../../../confinement.ts";
import { environmentFolders } from "../../../folders.ts";
import { currentRelease, partOf } from "../../../releases.ts";
import type { EnvironmentRef, InstalledPackages } from "../../../runtime.ts";
import { runTenantJob } from "../../templates/job.ts";
import { tablePrefixOf } from "../database/tablePrefix.ts";
import { mainDatabase, recordOf } from "../release.ts";
import type { PackagesJob, PackagesRead, PackagesSource } from "./packagesJob.ts";

/** How many environments one process reads. If environments have users of their own, the process is one of them. */
const batchSize = process.getuid?.() === 0 ? 1 : 100;
const batchSeconds = 60;
const singleSeconds = 10;
/** Visitors come first. */
const priority = 10;

interface Wanted {
  readonly environment: EnvironmentRef;
  readonly source: PackagesSource;
}

function isPackagesRead(value: unknown): value is PackagesRead {
  return value === null || (typeof value === "object" && "packages" in value && "problem" in value);
}

async function read(
  wanted: readonly Wanted[],
  deadlineSeconds: number,
  signal: AbortSignal,
): Promise<readonly PackagesRead[]> {
  const [first] = wanted;
  if (first === undefined) return [];
  const reads = wanted.flatMap(({ source: { webRoot, file } }) => [webRoot, path.dirname(file)]);
  const files = { source: first.environment, reads, writes: [] };
  const jobAt = (at: Confinement["at"]): PackagesJob => ({
    sources: wanted.map(({ source: { webRoot, file, prefix } }) => ({ webRoot: at(webRoot), file: at(file), prefix })),
  });
  const options = { files, deadlineSeconds, priority, signal };
  const found = await runTenantJob("../site/packages/packagesJob.ts", jobAt, options);
  if (Array.isArray(found) && found.length === wanted.length && found.every(isPackagesRead)) return found;
  throw new Error("Reading plugins and themes returned an unknown result.");
}

/** Returns what to read, or null if the environment doesn't exist or has no WordPress. */
async function wantedOf(environment: EnvironmentRef, environments: string): Promise<Wanted | null> {
  const release = await currentRelease(environmentFolders(environments, environment).live);
  if (release === null) return null;
  const facts = recordOf(release);
  if (facts.wordpressVersion === null) return null;
  const [webRoot, databases] = await Promise.all([partOf(release, "public"), partOf(release, "database")]);
  const file = path.join(databases, mainDatabase(facts));
  return { environment, source: { webRoot, file, prefix: await tablePrefixOf(webRoot) } };
}

const neverEnds: InstalledPackages = {
  packages: [],
  problem: "Reading the site's plugins and themes takes too long.",
};

/**
 * Reads several environments in one process. If that fails, reads each in its own process to find the one that never
 * ends.
 */
async function readBatch(
  all: readonly Wanted[],
  signal: AbortSignal,
): Promise<readonly (readonly [string, InstalledPackages])[]> {
  const isSingle = all.length === 1;
  try {
    const found = await read(all, isSingle ? singleSeconds : batchSeconds, signal);
    return all.flatMap(({ environment: { id } }, at) => {
      const one = found[at] ?? null;
      return one === null ? [] : [[id, one] as const];
    });
  } catch {
    signal.throwIfAborted();
    if (isSingle) return all.map(({ environment: { id } }) => [id, neverEnds]);
    const each: (readonly [string, InstalledPackages])[] = [];
    for (const one of all) each.push(...(await readBatch([one], signal)));
    return each;
  }
}

/** Implements `Runtime.packages`. Also leaves out environments whose database is being written. */
export async function readPackages(
  wanted: readonly EnvironmentRef[],
  environments: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, InstalledPackages>> {
  const found = new Map<string, InstalledPackages>();
  for (let done = 0; done < wanted.length; done += batchSize) {
    const batch = await Promise.all(wanted.slice(done, done + batchSize).map((each) => wantedOf(each, environments)));
    const existing = batch.filter((each) => each !== null);
    if (existing.length === 0) continue;
    for (const [id, packages] of await readBatch(existing, signal)) found.set(id, packages);
  }
  return found;
}
