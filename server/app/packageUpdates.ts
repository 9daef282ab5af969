/** Newer versions of plugins and themes: what may be asked for, and what starts the update. */
import { randomUUID } from "node:crypto";
import type { OperationKind } from "@sitewright/contract/operations.ts";
import type { PackageUpdate as PackageUpdateWish } from "@sitewright/contract/packageUpdates.ts";
import type { PackageUpdate, UpdatePackagesInput } from "@sitewright/server/operations/updatePackages.ts";
import { SourceFailure } from "@sitewright/server/packages/request.ts";
import type { PackageSource } from "@sitewright/server/packages/source.ts";
import { compareVersions } from "@sitewright/server/packages/versions.ts";
import type { PackageKind } from "@sitewright/server/store/database.ts";
import { findUnread } from "@sitewright/server/store/packages.ts";
import { findUpdatable, type UpdatablePackage } from "@sitewright/server/store/packageUpdates.ts";
import { findUpdateChecks } from "@sitewright/server/store/updateChecks.ts";
import type { Static } from "typebox";
import { addressOf } from "./addresses.ts";
import type { Context } from "./context.ts";
import { requireEnvironment, startOn } from "./environmentOperations.ts";
import { Refused } from "./failures.ts";

const kinds = {
  plugin: { one: "updatePlugin", several: "updatePlugins" },
  theme: { one: "updateTheme", several: "updateThemes" },
} as const satisfies Readonly<Record<PackageKind, Readonly<Record<string, OperationKind>>>>;

/** Whoever asks does not wait longer for the source: the operation asks it again. */
const sourceMilliseconds = 5_000;
const mostListed = 10;

function requireSource({ packageSource }: Context): PackageSource {
  if (packageSource !== null) return packageSource;
  throw new Refused(
    "no_package_source",
    "This installation has no package source to update from: SITEWRIGHT_WPORG_URL is none.",
  );
}

function refusePackage(kind: PackageKind, { name, file, is_elsewhere }: UpdatablePackage): void {
  if (is_elsewhere) {
    const sentence = `The ${kind} ${name} has its updates elsewhere: update it in the site's dashboard.`;
    throw new Refused("package_updated_elsewhere", sentence, { name });
  }
  if (kind === "theme" || file.includes("/")) return;
  throw new Refused("package_single_file", `The plugin ${name} is a single file: install it anew in the dashboard.`, {
    name,
  });
}

function slugOf({ slug, name }: UpdatablePackage): string {
  return slug ?? name;
}

/** Throws `Refused` where the source says that it does not offer the version. One that does not answer is asked again later. */
async function requireOffered(
  source: PackageSource,
  kind: PackageKind,
  found: UpdatablePackage,
  version: string,
  signal: AbortSignal,
): Promise<void> {
  if (found.update_version === version) return;
  const patience = AbortSignal.any([signal, AbortSignal.timeout(sourceMilliseconds)]);
  const offered = await source.find(kind, slugOf(found), patience).catch((error: unknown) => {
    if (error instanceof SourceFailure || (patience.aborted && !signal.aborted)) return undefined;
    throw error;
  });
  if (offered === undefined) return;
  const versions = (offered?.versions ?? []).map((one) => one.version);
  if (versions.includes(version)) return;
  const newest = [...new Set(versions)].toSorted((one, other) => compareVersions(other, one)).slice(0, mostListed);
  const instead = newest.length === 0 ? "it does not know it at all" : `it offers ${newest.join(", ")}`;
  throw new Refused(
    "version_not_offered",
    `The package source does not offer version ${version} of ${found.name}: ${instead}.`,
    { name: found.name, offered: newest },
  );
}

/** Reads them where nobody has yet. */
async function installedOf(
  { database, readPackages, signal }: Context,
  environmentId: string,
  kind: PackageKind,
  names: readonly string[],
): Promise<readonly UpdatablePackage[]> {
  const unread = await findUnread(database, { environmentId }, 1);
  if (unread.length > 0) await readPackages(unread, signal);
  const found = await findUpdatable(database, environmentId, kind, names);
  const missing = names.filter((name) => !found.some((one) => one.name === name));
  if (missing.length === 0) return found;
  throw new Refused("package_not_installed", `This environment has no ${kind} ${missing.join(", ")}.`, {
    names: missing,
  });
}

/** Starts the update. Gives the operation's id. */
export async function update(
  context: Context,
  environmentId: string,
  kind: PackageKind,
  { name, update_version: to }: Static<typeof PackageUpdateWish>,
): Promise<string> {
  const source = requireSource(context);
  const [found] = await installedOf(context, environmentId, kind, [name]);
  if (found === undefined) throw new Error("What is installed was not found");
  refusePackage(kind, found);
  if (compareVersions(to, found.version) <= 0) {
    throw new Refused("version_not_newer", `${name} has version ${found.version}, and ${to} is not newer.`, {
      name,
      installed: found.version,
    });
  }
  await requireOffered(source, kind, found, to, context.signal);
  return start(context, environmentId, kinds[kind].one, kind, [updateOf(found, to)]);
}

/** Starts the update of those for which there is a newer version. Gives the operation's id. */
export async function updateSeveral(
  context: Context,
  environmentId: string,
  kind: PackageKind,
  wishes: readonly { readonly name: string }[],
): Promise<string> {
  requireSource(context);
  const names = [...new Set(wishes.map(({ name }) => name))];
  const found = await installedOf(context, environmentId, kind, names);
  const updates = found.flatMap((one) => {
    if (one.update_version === null) return [];
    refusePackage(kind, one);
    return [updateOf(one, one.update_version)];
  });
  if (updates.length > 0) return start(context, environmentId, kinds[kind].several, kind, updates);
  throw new Refused("nothing_to_update", `There is no newer version of ${names.join(", ")} known to be offered.`, {
    names,
  });
}

function updateOf(found: UpdatablePackage, to: string): PackageUpdate {
  return { name: found.name, slug: slugOf(found), file: found.file, from: found.version, to };
}

function start(
  context: Context,
  environmentId: string,
  operation: OperationKind,
  kind: PackageKind,
  updates: readonly PackageUpdate[],
): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, environmentId);
    const input: UpdatePackagesInput = {
      token: randomUUID(),
      target: { id: environment.id, number: environment.number },
      address: addressOf(context.settings, environment),
      kind,
      updates,
      checks: (await findUpdateChecks(transaction, environment.id))?.update_checks ?? [],
    };
    const [first] = updates;
    const names = {
      packageName: first?.name ?? "",
      packageVersion: first?.to ?? "",
      packageNames: updates.map(({ name, to }) => `${name} ${to}`).join(", "),
    };
    return startOn(context, transaction, environment, { kind: operation, input, locks: [environment.id], names });
  });
}
