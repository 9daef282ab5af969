/**
 * Whether an update still leads to something newer when its turn has come. While it waited in line, or was fetched, somebody may have
 * updated, replaced or removed what it is about: nobody's newer version is replaced by an older one, and nothing comes back
 * that was removed.
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
  if (layout === null) throw new StepFailure("The environment is not there any more.");
  return layout;
}

/**
 * Returns the updates with the versions that are there now. Throws `StepFailure` if one of the packages is gone, or has that
 * version or a newer one. Only files are read, which a database that can't be read does not stand in the way of.
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
    if (found === undefined) throw superseded(`The environment has no ${kind} ${name} any more.`);
    if (compareVersions(to, found.version) > 0) return { ...update, from: found.version };
    throw superseded(`${name} has version ${found.version} by now, and ${to} is not newer.`);
  });
}

/** Returns the version of WordPress that is there now. Throws `StepFailure` if there is none, or one that is not older. */
export async function requireOlderWordPress(
  runtime: Pick<Runtime, "layout">,
  environment: EnvironmentRef,
  to: string,
): Promise<string> {
  const { wordpressVersion: from } = await layoutOf(runtime, environment);
  if (from === null) throw superseded("There is no WordPress in this environment any more.");
  if (compareVersions(to, from) > 0) return from;
  throw superseded(`The environment has WordPress ${from} by now, and ${to} is not newer.`);
}
