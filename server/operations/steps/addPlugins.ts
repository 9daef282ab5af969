/** Plugins that a new WordPress begins with: the newest of each, from the package source, put there before anybody visits, and activated. */
import type { EnvironmentRef, MultisiteKind } from "@sitewright/runtimes/runtime.ts";
import { SourceFailure } from "../../packages/request.ts";
import type { PackageSource } from "../../packages/source.ts";
import { StepFailure } from "../engine/operation.ts";
import { workName } from "./backup.ts";
import { fetchPackage } from "./fetchPackage.ts";
import type { Services } from "./services.ts";

export type NewPlugin = {
  /** As the source calls it, and its folder. */
  readonly slug: string;
  /** As WordPress names it. */
  readonly file: string;
};

export interface AddPluginsWish {
  readonly environment: EnvironmentRef;
  readonly phpVersion: string;
  readonly multisite: MultisiteKind | null;
  readonly plugins: readonly NewPlugin[];
  readonly operationId: string;
}

const activationSeconds = 300;

const workOf = (operationId: string) => `${workName(operationId)}-plugins`;

async function newestOf(source: PackageSource, slug: string, signal: AbortSignal): Promise<string> {
  const found = await source.find("plugin", slug, signal).catch((cause: unknown) => {
    throw cause instanceof SourceFailure ? new StepFailure(`${slug}: ${cause.message}`, { cause }) : cause;
  });
  if (found?.newest) return found.newest;
  throw new StepFailure(`The package source does not offer ${slug}.`);
}

/** Again it comes to the same. Rejects with `StepFailure` if one can't be had, or can't be activated. */
export async function addPlugins(
  { archives, packageSource, runtime }: Pick<Services, "archives" | "packageSource" | "runtime">,
  { environment, phpVersion, multisite, plugins, operationId }: AddPluginsWish,
  signal: AbortSignal,
): Promise<void> {
  if (plugins.length === 0) return;
  if (packageSource === null) throw new StepFailure("This installation has no package source any more.");
  const folder = await archives.workFolder(workOf(operationId));
  try {
    const packages = [];
    for (const { slug: name, file } of plugins) {
      const wish = { kind: "plugin", name, slug: name, file } as const;
      const version = await newestOf(packageSource, name, signal);
      packages.push({ ...wish, folder: await fetchPackage(packageSource, { ...wish, version }, folder, signal) });
    }
    await runtime.installPackages(environment, null, packages);
  } finally {
    await archives.removeWorkFolder(workOf(operationId));
  }
  await activate(runtime, { environment, phpVersion, multisite, plugins }, signal);
}

/** In a network, for all of its sites. */
async function activate(
  runtime: Services["runtime"],
  { environment, phpVersion, multisite, plugins }: Omit<AddPluginsWish, "operationId">,
  signal: AbortSignal,
): Promise<void> {
  const network = multisite === null ? [] : ["--network"];
  const argv = ["plugin", "activate", ...plugins.map(({ slug }) => slug), ...network];
  const command = { phpVersion, argv, seconds: activationSeconds };
  const { exitCode, stderr } = await runtime.runWpCli(environment, command, async () => undefined, signal);
  if (exitCode === 0) return;
  const said = stderr.text.trim().slice(0, 500);
  throw new StepFailure(`The plugins could not be activated${said === "" ? "" : `: ${said}`}`);
}

/** What a process that was killed has left of it. */
export function removePluginWork({ archives }: Pick<Services, "archives">, operationId: string): Promise<void> {
  return archives.removeWorkFolder(workOf(operationId));
}
