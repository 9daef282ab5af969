/** Reads the installed plugins and themes of environments that may have changed since the last reading. */
import type { EnvironmentRef, InstalledPackages, Runtime } from "@sitewright/runtimes/runtime.ts";
import { applyOffers } from "../packages/applyOffers.ts";
import { versionKey } from "../packages/versions.ts";
import type { Database } from "../store/database.ts";
import {
  type FoundPackage,
  findDueForReading,
  findNewForReading,
  notePackages,
  notePackagesUnchanged,
  type ToRead,
} from "../store/packages/packages.ts";
import { databaseNow } from "../store/sites/diskUse.ts";

interface ReadPackagesOptions {
  readonly database: Database;
  readonly runtime: Pick<Runtime, "packages">;
}

interface ReadDuePackagesOptions {
  readonly database: Database;
  readonly runtime: Pick<Runtime, "packages" | "unchangedPackages">;
}

/** Reads the packages of these environments now and stores them. */
type ReadPackages = (environments: readonly EnvironmentRef[], signal: AbortSignal) => Promise<void>;

/** The result of a batch is stored at once. */
const batchSize = 100;
const environmentsPerRun = 1_000;
/** Values of the `Update URI` header that mean the WordPress directory. */
const directoryHosts = ["wordpress.org", "w.org"];

/** Whether updates come from elsewhere. As in WordPress: the header has a host, with or without a scheme. */
function isElsewhere(updateUri: string | null): boolean {
  if (updateUri === null) return false;
  const withScheme = updateUri.includes("://") ? updateUri : `https://${updateUri}`;
  return !URL.canParse(withScheme) || !directoryHosts.includes(new URL(withScheme).hostname);
}

function foundIn({ packages }: InstalledPackages): readonly FoundPackage[] {
  return packages.map(({ kind, name, file, title, description, version, isActive, isAutoUpdated, updateUri }) => ({
    kind,
    name,
    file,
    title,
    description,
    version,
    version_key: versionKey(version),
    is_elsewhere: isElsewhere(updateUri),
    is_active: isActive,
    is_auto_updated: isAutoUpdated,
  }));
}

export function makeReadPackages({ database, runtime }: ReadPackagesOptions): ReadPackages {
  return async (environments, signal) => {
    const readAt = await databaseNow(database);
    const found = await runtime.packages(environments, signal);
    for (const { id } of environments) {
      const packages = found.get(id);
      if (packages === undefined) continue;
      await notePackages(database, id, { packages: foundIn(packages), problem: packages.problem, readAt });
    }
    await applyOffers(
      database,
      environments.map(({ id }) => id),
    );
  };
}

/**
 * Reads the environments that are due. One that can't be read, because it is being written to, stays due. Looks at all
 * environments.
 */
export async function readDuePackages(options: ReadDuePackagesOptions, signal: AbortSignal): Promise<void> {
  await readAll(await findChanged(options), options, signal);
}

/** Reads the environments that were never read or that an operation has changed, for which someone may be waiting. */
export async function readNewPackages(options: ReadPackagesOptions, signal: AbortSignal): Promise<void> {
  await readAll(await findNewForReading(options.database, environmentsPerRun), options, signal);
}

/**
 * Batches don't wait for each other, and contain whole companies as far as possible, because the result of a batch waits for its
 * slowest database.
 */
async function readAll(due: readonly ToRead[], options: ReadPackagesOptions, signal: AbortSignal): Promise<void> {
  const read = makeReadPackages(options);
  const byCompany = due.toSorted((one, other) => one.companyId.localeCompare(other.companyId));
  const batches: Promise<void>[] = [];
  for (let done = 0; done < byCompany.length; done += batchSize)
    batches.push(read(byCompany.slice(done, done + batchSize), signal));
  await Promise.all(batches);
}

/** Finds environments to read. An environment that is due only because of its age is left out if it has not changed since. */
async function findChanged({ database, runtime }: ReadDuePackagesOptions): Promise<readonly ToRead[]> {
  const due = await findDueForReading(database, environmentsPerRun);
  const quiet = due.flatMap(({ id, number, lastReadAt }) =>
    lastReadAt === null ? [] : [{ id, number, readAt: lastReadAt }],
  );
  if (quiet.length === 0) return due;
  const checkedAt = await databaseNow(database);
  const unchanged = await runtime.unchangedPackages(quiet);
  if (unchanged.size > 0) await notePackagesUnchanged(database, [...unchanged], checkedAt);
  return due.filter(({ id }) => !unchanged.has(id));
}
