/** Lists the plugins and themes of environments, read from their files and databases in a separate process. */
import path from "node:path";
import type { Confinement } from "../../confinement.ts";
import { environmentFolders } from "../../folders.ts";
import { runTenantJob } from "../../job.ts";
import { currentRelease, partOf } from "../../releases.ts";
import type { EnvironmentRef, InstalledPackages } from "../../runtime.ts";
import { recordOf } from "../../site/release.ts";
import type { PackageReader } from "../../site/siteDatabase.ts";
import { tablePrefixOf } from "../../site/tablePrefix.ts";
import { databaseFile } from "../databaseFiles.ts";
import { createSuspects, jobSource, partyOf, readingTurns } from "../readings.ts";
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
  const [first, ...others] = wanted.map(({ environment }) => environment);
  if (first === undefined) return [];
  const reads = wanted.flatMap(({ source: { webRoot, file } }) => [webRoot, path.dirname(file)]);
  const files = { source: jobSource([first, ...others]), reads, writes: [] };
  const jobAt = (at: Confinement["at"]): PackagesJob => ({
    sources: wanted.map(({ source: { webRoot, file, prefix } }) => ({ webRoot: at(webRoot), file: at(file), prefix })),
  });
  const options = { files, deadlineSeconds, priority, signal };
  const found = await runTenantJob(new URL("./packagesJob.ts", import.meta.url), jobAt, options);
  if (Array.isArray(found) && found.length === wanted.length && found.every(isPackagesRead)) return found;
  throw new Error("Reading plugins and themes returned an unknown result.");
}

/** Returns what to read, or null if the environment doesn't exist or has no WordPress. */
async function wantedOf(environment: EnvironmentRef, environments: string): Promise<Wanted | null> {
  const release = await currentRelease(environmentFolders(environments, environment).live);
  if (release === null) return null;
  if (recordOf(release).wordpressVersion === null) return null;
  const [webRoot, databases] = await Promise.all([partOf(release, "public"), partOf(release, "database")]);
  const file = path.join(databases, databaseFile);
  return { environment, source: { webRoot, file, prefix: await tablePrefixOf(webRoot) } };
}

const neverEnds: InstalledPackages = {
  packages: [],
  problem: "Reading the site's plugins and themes takes too long.",
};

type Found = readonly (readonly [id: string, InstalledPackages])[];

/**
 * Returns `Runtime.packages` for the environments in this folder. It also leaves out environments whose database is being
 * written.
 */
export function createPackageReader(environments: string): PackageReader {
  const suspects = createSuspects();

  async function readNow(all: readonly EnvironmentRef[], signal: AbortSignal): Promise<Found> {
    // A damaged release must not hide the packages of other environments.
    const batch = await Promise.all(all.map((each) => wantedOf(each, environments).catch(() => null)));
    const existing = batch.filter((each) => each !== null);
    const found = await read(existing, all.length === 1 ? singleSeconds : batchSeconds, signal);
    for (const { id } of all) suspects.remove(id);
    return existing.flatMap(({ environment: { id } }, at) => {
      const one = found[at] ?? null;
      return one === null ? [] : [[id, one] as const];
    });
  }

  /**
   * Reads several environments in one process, when it is their turn. If that fails, reads each in its own process to find the
   * one that never ends.
   */
  async function readBatch(all: readonly EnvironmentRef[], signal: AbortSignal): Promise<Found> {
    try {
      return await readingTurns.run(partyOf(all), () => readNow(all, signal), signal);
    } catch {
      signal.throwIfAborted();
      if (all.length > 1) return (await Promise.all(all.map((each) => readBatch([each], signal)))).flat();
      return all.map(({ id }) => {
        suspects.addFailure(id);
        return [id, neverEnds];
      });
    }
  }

  return async (wanted, signal) => {
    const paused = wanted.filter(({ id }) => suspects.isPaused(id));
    const due = wanted.filter((each) => !paused.includes(each));
    const batches: Promise<Found>[] = [];
    for (let done = 0; done < due.length; done += batchSize)
      batches.push(readBatch(due.slice(done, done + batchSize), signal));
    const found = (await Promise.all(batches)).flat();
    return new Map([...paused.map(({ id }) => [id, neverEnds] as const), ...found]);
  };
}
