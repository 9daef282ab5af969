/** Plugins and themes of environments, as a reading of them finds them. */
import { randomUUID } from "node:crypto";
import { versionKey } from "../packages/versions.ts";
import type { Database } from "../store/database.ts";
import { type FoundPackage, notePackages } from "../store/packages/packages.ts";
import { databaseNow } from "../store/sites/diskUse.ts";

export type TestPackage = Partial<FoundPackage> & Pick<FoundPackage, "name">;

/** A plugin that is in use, unless the options say something else. */
export function foundPackage(options: TestPackage): FoundPackage {
  const version = options.version ?? "1.0";
  return {
    kind: "plugin",
    file: options.kind === "theme" ? options.name : `${options.name}/${options.name}.php`,
    title: `The ${options.name}`,
    description: "",
    is_elsewhere: false,
    is_active: true,
    is_auto_updated: false,
    ...options,
    version,
    version_key: versionKey(version),
  };
}

/** The environment has been read, and has these. */
export async function putPackages(
  database: Database,
  environmentId: string,
  packages: readonly TestPackage[],
  problem: string | null = null,
): Promise<void> {
  const readAt = await databaseNow(database);
  await notePackages(database, environmentId, { packages: packages.map(foundPackage), problem, readAt });
}

/** A slug that nobody else has. */
export const someSlug = (): string => `p-${randomUUID()}`;
