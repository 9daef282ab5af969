/** Updates of plugins and themes: which requests are valid, and how the update starts. */
import type { PackageUpdate as PackageUpdateBody } from "@sitewright/contract/packages/packageUpdates.ts";
import { SourceFailure } from "@sitewright/server/packages/request.ts";
import type { PackageSource } from "@sitewright/server/packages/source.ts";
import { compareVersions } from "@sitewright/server/packages/versions.ts";
import type { PackageKind } from "@sitewright/server/store/database.ts";
import { findUnread } from "@sitewright/server/store/packages/packages.ts";
import { findUpdatable, type UpdatablePackage } from "@sitewright/server/store/packages/packageUpdates.ts";
import type { Static } from "typebox";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";
import { requireEnvironment } from "../sites/environmentOperations.ts";
import { nothingToUpdate } from "./checks.ts";
import { type PackageUpdateRequest, slugOf, startUpdate, updateKinds, updateOf } from "./packageUpdateOperation.ts";

const maxVersionsListed = 10;

export function requireSource({ packageSource }: Context): PackageSource {
  if (packageSource !== null) return packageSource;
  throw new Refused(
    "no_package_source",
    "This installation has no package source for updates: SITEWRIGHT_WPORG_URL is none.",
  );
}

/** How long a request waits for the package source. The operation asks it again. */
const sourceTimeoutMilliseconds = 5_000;

/** Undefined if the source fails or times out. */
export async function fromSource<T>(
  ask: (until: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(sourceTimeoutMilliseconds)]);
  try {
    return await ask(until);
  } catch (error) {
    if (error instanceof SourceFailure || (until.aborted && !signal.aborted)) return undefined;
    throw error;
  }
}

/** Throws `Refused` if the package can't be updated here. */
export function refusePackage(kind: PackageKind, { name, file, is_elsewhere }: UpdatablePackage): void {
  if (is_elsewhere) {
    const message = `The ${kind} ${name} gets its updates from another source. Update it in the site's dashboard.`;
    throw new Refused("package_updated_elsewhere", message, { name });
  }
  if (kind === "theme" || file.includes("/")) return;
  throw new Refused("package_single_file", `The plugin ${name} is a single file. Reinstall it in the dashboard.`, {
    name,
  });
}

/** Throws `Refused` if the source does not offer the version. Passes if it does not answer: the operation asks again. */
export async function requireOffered(
  source: PackageSource,
  kind: PackageKind,
  found: Pick<UpdatablePackage, "name" | "slug" | "update_version">,
  version: string,
  signal: AbortSignal,
): Promise<void> {
  if (found.update_version === version) return;
  const offered = await fromSource((until) => source.find(kind, slugOf(found), until), signal);
  if (offered === undefined) return;
  const versions = (offered?.versions ?? []).map((one) => one.version);
  if (versions.includes(version)) return;
  const newest = [...new Set(versions)]
    .toSorted((one, other) => compareVersions(other, one))
    .slice(0, maxVersionsListed);
  const instead = newest.length === 0 ? "it does not have this package" : `it offers ${newest.join(", ")}`;
  throw new Refused(
    "version_not_offered",
    `The package source does not offer version ${version} of ${found.name}: ${instead}.`,
    { name: found.name, offered: newest },
  );
}

/** Finds the installed packages; reads the environment first if that has not happened yet. Throws `Refused` if one is missing. */
async function installedOf(
  { database, readInTurn, readPackages, signal }: Context,
  environmentId: string,
  kind: PackageKind,
  names: readonly string[],
): Promise<readonly UpdatablePackage[]> {
  const unread = await findUnread(database, { environmentId }, 1);
  if (unread.length > 0) await readInTurn(() => readPackages(unread, signal));
  const found = await findUpdatable(database, environmentId, kind, names);
  const missing = names.filter((name) => !found.some((one) => one.name === name));
  if (missing.length === 0) return found;
  throw new Refused(
    "package_not_installed",
    `The ${kind} ${missing.join(", ")} is not installed in this environment.`,
    {
      names: missing,
    },
  );
}

/** Starts the update. Returns the operation's id. */
export async function update(
  context: Context,
  environmentId: string,
  kind: PackageKind,
  { name, update_version: to }: Static<typeof PackageUpdateBody>,
): Promise<string> {
  const source = requireSource(context);
  const [found] = await installedOf(context, environmentId, kind, [name]);
  if (found === undefined) throw new Error(`The installed package ${name} was not found`);
  refusePackage(kind, found);
  if (compareVersions(to, found.version) <= 0) {
    throw new Refused("version_not_newer", `${name} has version ${found.version}, and ${to} is not newer.`, {
      name,
      installed: found.version,
    });
  }
  await requireOffered(source, kind, found, to, context.signal);
  return start(context, environmentId, { operation: updateKinds[kind].one, kind, updates: [updateOf(found, to)] });
}

/** Starts the update of all named packages that have a newer version. Returns the operation's id. */
export async function updateSeveral(
  context: Context,
  environmentId: string,
  kind: PackageKind,
  packages: readonly { readonly name: string }[],
): Promise<string> {
  requireSource(context);
  const names = [...new Set(packages.map(({ name }) => name))];
  const found = await installedOf(context, environmentId, kind, names);
  const updates = found.flatMap((one) => {
    if (one.update_version === null) return [];
    refusePackage(kind, one);
    return [updateOf(one, one.update_version)];
  });
  if (updates.length > 0) return start(context, environmentId, { operation: updateKinds[kind].several, kind, updates });
  throw await nothingToUpdate(context, names, `No newer version of ${names.join(", ")} is available.`);
}

function start(context: Context, environmentId: string, request: PackageUpdateRequest): Promise<string> {
  return context.inTransaction(async (transaction) =>
    startUpdate(context, transaction, await requireEnvironment(transaction, environmentId), request),
  );
}
