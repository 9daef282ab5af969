/** Updates of WordPress itself: the versions available for an environment, and how the update starts. */
import type { UpdateWordPressInput } from "@sitewright/server/operations/packages/updateWordPress.ts";
import { compareVersions } from "@sitewright/server/packages/versions.ts";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";
import { requireEnvironment, startOn } from "../sites/environmentOperations.ts";
import { updateTarget } from "./packageUpdateOperation.ts";
import { fromSource, requireSource } from "./packageUpdates.ts";

/** Newer versions, the newest first. Undefined if the source did not answer. */
async function newerThan({ packageSource, signal }: Context, version: string): Promise<readonly string[] | undefined> {
  if (packageSource === null) return [];
  const offers = await fromSource((until) => packageSource.cores(version, until), signal);
  const newer = offers?.map((one) => one.version).filter((one) => compareVersions(one, version) > 0);
  return newer && [...new Set(newer)].toSorted((one, other) => compareVersions(other, one));
}

function problemOf({ packageSource }: Context, newer: readonly string[] | undefined): string | null {
  if (packageSource === null) return "There is no package source: SITEWRIGHT_WPORG_URL is none.";
  return newer === undefined
    ? `The package source at ${packageSource.url.host} could not be reached. Try again later.`
    : null;
}

export async function get(context: Context, environmentId: string) {
  const { id, wordpress_version } = await requireEnvironment(context.database, environmentId);
  const newer = wordpress_version === null ? [] : await newerThan(context, wordpress_version);
  return { id, wordpress_version, update_versions: [...(newer ?? [])], problem: problemOf(context, newer) };
}

/** Starts the update. Returns the operation's id. */
export async function update(context: Context, environmentId: string, to: string): Promise<string> {
  requireSource(context);
  const { wordpress_version: from } = await requireEnvironment(context.database, environmentId);
  if (from === null) throw new Refused("no_wordpress", "There is no WordPress in this environment.");
  if (compareVersions(to, from) <= 0) {
    throw new Refused("version_not_newer", `The environment has WordPress ${from}, and ${to} is not newer.`, {
      name: "wordpress",
      installed: from,
    });
  }
  const newer = await newerThan(context, from);
  if (newer?.includes(to) === false) {
    const instead = newer.length === 0 ? "it offers nothing newer" : `it offers ${newer.join(", ")}`;
    const sentence = `The package source does not offer WordPress ${to}: ${instead}.`;
    throw new Refused("version_not_offered", sentence, { name: "wordpress", offered: newer });
  }
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, environmentId);
    const input: UpdateWordPressInput = { ...(await updateTarget(context, transaction, environment)), from, to };
    const names = { packageVersion: to };
    return startOn(context, transaction, environment, {
      kind: "updateWordPress",
      input,
      locks: [environment.id],
      names,
    });
  });
}
