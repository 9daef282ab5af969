/** Starts the operation that updates plugins or themes of one environment, for users, rollouts and automatic updates. */
import { randomUUID } from "node:crypto";
import type { OperationKind } from "@sitewright/contract/operationKinds.ts";
import type { PackageUpdate, UpdatePackagesInput } from "@sitewright/server/operations/packages/updatePackages.ts";
import type { DatabaseTransaction, PackageKind } from "@sitewright/server/store/database.ts";
import type { UpdatablePackage } from "@sitewright/server/store/packages/packageUpdates.ts";
import { findUpdateChecks } from "@sitewright/server/store/packages/updateChecks.ts";
import type { EnvironmentFacts } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Context } from "../context.ts";
import { addressOf } from "../sites/addresses.ts";
import { environmentInput } from "../sites/environmentInput.ts";
import { type Starter, startOn } from "../sites/environmentOperations.ts";

export const updateKinds = {
  plugin: { one: "updatePlugin", several: "updatePlugins" },
  theme: { one: "updateTheme", several: "updateThemes" },
} as const satisfies Readonly<Record<PackageKind, Readonly<Record<string, OperationKind>>>>;

export interface PackageUpdateRequest {
  readonly operation: OperationKind;
  readonly kind: PackageKind;
  readonly updates: readonly PackageUpdate[];
}

/** The package's slug at the source. If the source has not been asked yet, most likely the site's own name for it. */
export function slugOf({ slug, name }: Pick<UpdatablePackage, "slug" | "name">): string {
  return slug ?? name;
}

export function updateOf(found: UpdatablePackage, to: string): PackageUpdate {
  return { name: found.name, slug: slugOf(found), file: found.file, from: found.version, to };
}

/** The input that every update operation has in common: the environment and its update checks. */
export async function updateTarget(
  { settings }: Pick<Context, "settings">,
  transaction: DatabaseTransaction,
  environment: EnvironmentFacts,
) {
  const checks = await findUpdateChecks(transaction, environment.id);
  return {
    token: randomUUID(),
    target: environmentInput(environment),
    address: addressOf(settings, environment),
    checks: checks?.update_checks ?? [],
    pictureThreshold: checks?.picture_threshold ?? null,
  };
}

/** Starts the update. Returns the operation's id. */
export async function startUpdate(
  starter: Starter & Pick<Context, "settings">,
  transaction: DatabaseTransaction,
  environment: EnvironmentFacts,
  { operation, kind, updates }: PackageUpdateRequest,
): Promise<string> {
  const input: UpdatePackagesInput = { ...(await updateTarget(starter, transaction, environment)), kind, updates };
  const [first] = updates;
  const names = {
    packageName: first?.name ?? "",
    packageVersion: first?.to ?? "",
    packageNames: updates.map(({ name, to }) => `${name} ${to}`).join(", "),
  };
  return startOn(starter, transaction, environment, { kind: operation, input, locks: [environment.id], names });
}
