/** Reads which plugins and themes environments have, where something may have changed since, many at a time. */
import type { InstalledPackages, Runtime } from "@sitewright/runtimes/runtime.ts";
import { applyOffers } from "../packages/applyOffers.ts";
import { versionKey } from "../packages/versions.ts";
import type { Database } from "../store/database.ts";
import { type FoundPackage, findDueForReading, notePackages, type ToRead } from "../store/packages/packages.ts";
import { databaseNow } from "../store/sites/diskUse.ts";

export interface ReadPackagesOptions {
  readonly database: Database;
  readonly runtime: Pick<Runtime, "packages">;
}

/** Reads these now, and keeps what was found. */
export type ReadPackages = (environments: readonly ToRead[], signal: AbortSignal) => Promise<void>;

/** In one process of the runtime's. */
const together = 100;
/** In one run. */
const most = 1_000;
/** Hosts of WordPress's own, which a header may name as the place of updates. */
const ownHosts = ["wordpress.org", "w.org"];

/** As WordPress has it: the header names a host, with or without a scheme. */
function isElsewhere(updateUri: string | null): boolean {
  if (updateUri === null) return false;
  const withScheme = updateUri.includes("://") ? updateUri : `https://${updateUri}`;
  return !URL.canParse(withScheme) || !ownHosts.includes(new URL(withScheme).hostname);
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

/** Those that are due. What could not be read, because it is just being written, is so still. */
export async function readDuePackages(options: ReadPackagesOptions, signal: AbortSignal): Promise<void> {
  const read = makeReadPackages(options);
  const due = await findDueForReading(options.database, most);
  for (let done = 0; done < due.length; done += together) await read(due.slice(done, done + together), signal);
}
