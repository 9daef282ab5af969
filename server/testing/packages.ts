/** Plugins and themes of environments, as the runtime reports them. */
import { versionKey } from "../packages/versions.ts";
import type { Database } from "../store/database.ts";
import { type FoundPackage, notePackages } from "../store/packages/packages.ts";
import { databaseNow } from "../store/sites/diskUse.ts";

export type TestPackage = Partial<FoundPackage> & Pick<FoundPackage, "name">;

/** Returns an active plugin, changed by `wish`. */
export function foundPackage(wish: TestPackage): FoundPackage {
  const version = wish.version ?? "1.0";
  return {
    kind: "plugin",
    file: wish.kind === "theme" ? wish.name : `${wish.name}/${wish.name}.php`,
    title: `The ${wish.name}`,
    description: "",
    is_elsewhere: false,
    is_active: true,
    is_auto_updated: false,
    ...wish,
    version,
    version_key: versionKey(version),
  };
}

/** Stores these as the environment's packages, as after reading them. */
export async function putPackages(
  database: Database,
  environmentId: string,
  wishes: readonly TestPackage[],
  problem: string | null = null,
): Promise<void> {
  const readAt = await databaseNow(database);
  await notePackages(database, environmentId, { packages: wishes.map(foundPackage), problem, readAt });
}
