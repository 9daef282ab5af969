/** Plugins and themes of environments, as a reading of them finds them. */
import { versionKey } from "../packages/versions.ts";
import type { Database } from "../store/database.ts";
import { type FoundPackage, notePackages } from "../store/packages/packages.ts";
import { databaseNow } from "../store/sites/diskUse.ts";

export type PackageWish = Partial<FoundPackage> & Pick<FoundPackage, "name">;

/** A plugin that is in use, unless the wish says something else. */
export function foundPackage(wish: PackageWish): FoundPackage {
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

/** The environment has been read, and has these. */
export async function putPackages(
  database: Database,
  environmentId: string,
  wishes: readonly PackageWish[],
  problem: string | null = null,
): Promise<void> {
  const readAt = await databaseNow(database);
  await notePackages(database, environmentId, { packages: wishes.map(foundPackage), problem, readAt });
}
