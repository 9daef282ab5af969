/**
 * Checks that an update still installs a newer version. While it waited in the queue or was downloaded, someone may
 * have updated, replaced or removed the package. An update must not downgrade it or bring it back.
 */
import { readPackageFiles } from "@sitewright/runtimes/packageFiles.ts";
import type { EnvironmentLayout, EnvironmentRef, Runtime } from "@sitewright/runtimes/runtime.ts";
import { compareVersions } from "../../packages/versions.ts";
import type { PackageKind } from "../../store/database.ts";
import { StepFailure } from "../engine/operation.ts";

interface VersionChange {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

const superseded = (sentence: string) => new StepFailure(sentence, { kind: "superseded" });

async function layoutOf(runtime: Pick<Runtime, "layout">, environment: EnvironmentRef): Promise<EnvironmentLayout> {
  const layout = await runtime.layout(environment);
  if (layout === null) throw new StepFailure("The environment no longer exists.");
  return layout;
}

/**
 * Returns the updates with the versions that are installed now. Throws `StepFailure` if a package is gone, or if its
 * version is not older than the update. Reads only files, so that it also works if the database is unreadable.
 */
export async function requireOlderPackages<Update extends VersionChange>(
  runtime: Pick<Runtime, "layout">,
  environment: EnvironmentRef,
  kind: PackageKind,
  updates: readonly Update[],
): Promise<readonly Update[]> {
  const { documentRoot } = await layoutOf(runtime, environment);
  const installed = (await readPackageFiles(documentRoot)).filter((one) => one.kind === kind);
  return updates.map((update) => {
    const { name, to } = update;
    const found = installed.find((one) => one.name === name);
    if (found === undefined) throw superseded(`The environment no longer has the ${kind} ${name}.`);
    if (compareVersions(to, found.version) > 0) return { ...update, from: found.version };
    throw superseded(`${name} already has version ${found.version}, and ${to} is not newer.`);
  });
}

/**
 * Returns the installed version of WordPress. Throws `StepFailure` if there is none, or if it is not older than `to`.
 */
export async function requireOlderWordPress(
  runtime: Pick<Runtime, "layout">,
  environment: EnvironmentRef,
  to: string,
): Promise<string> {
  const { wordpressVersion: from } = await layoutOf(runtime, environment);
  if (from === null) throw superseded("The environment no longer has WordPress.");
  if (compareVersions(to, from) > 0) return from;
  throw superseded(`The environment already has WordPress ${from}, and ${to} is not newer.`);
}
