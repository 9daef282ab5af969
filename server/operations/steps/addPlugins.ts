/** Installs and activates the plugins of a new WordPress, in their newest versions, before it has visitors. */
import type { EnvironmentRef, MultisiteKind } from "@sitewright/runtimes/runtime.ts";
import { SourceFailure } from "../../packages/request.ts";
import type { PackageSource } from "../../packages/source.ts";
import { StepFailure } from "../engine/operation.ts";
import { workName } from "./backup.ts";
import { fetchPackage } from "./fetchPackage.ts";
import type { Services } from "./services.ts";

export type NewPlugin = {
  /** Its name in the package source, and the name of its folder. */
  readonly slug: string;
  /** Its main file, as WordPress identifies it: `shop/shop.php`. */
  readonly file: string;
};

interface AddPluginsOptions {
  readonly environment: EnvironmentRef;
  readonly phpVersion: string;
  readonly multisite: MultisiteKind | null;
  readonly plugins: readonly NewPlugin[];
  readonly operationId: string;
}

const activationSeconds = 300;

const workFolderName = (operationId: string) => `${workName(operationId)}-plugins`;

async function newestVersion(source: PackageSource, slug: string, signal: AbortSignal): Promise<string> {
  const found = await source.find("plugin", slug, signal).catch((cause: unknown) => {
    throw cause instanceof SourceFailure ? new StepFailure(`${slug}: ${cause.message}`, { cause }) : cause;
  });
  if (found?.newest) return found.newest;
  throw new StepFailure(`The package source does not offer ${slug}.`);
}

/** Idempotent. Rejects with `StepFailure` if a plugin can't be downloaded or activated. */
export async function addPlugins(
  { archives, packageSource, runtime }: Pick<Services, "archives" | "packageSource" | "runtime">,
  { environment, phpVersion, multisite, plugins, operationId }: AddPluginsOptions,
  signal: AbortSignal,
): Promise<void> {
  if (plugins.length === 0) return;
  if (packageSource === null) throw new StepFailure("This installation no longer has a package source.");
  const folder = await archives.workFolder(workFolderName(operationId));
  try {
    const packages = [];
    for (const { slug: name, file } of plugins) {
      const request = { kind: "plugin", name, slug: name, file } as const;
      const version = await newestVersion(packageSource, name, signal);
      packages.push({ ...request, folder: await fetchPackage(packageSource, { ...request, version }, folder, signal) });
    }
    await runtime.installPackages(environment, null, packages);
  } finally {
    await archives.removeWorkFolder(workFolderName(operationId));
  }
  await activate(runtime, { environment, phpVersion, multisite, plugins }, signal);
}

/** Activates the plugins, in a multisite network for all of its sites. */
async function activate(
  runtime: Services["runtime"],
  { environment, phpVersion, multisite, plugins }: Omit<AddPluginsOptions, "operationId">,
  signal: AbortSignal,
): Promise<void> {
  const network = multisite === null ? [] : ["--network"];
  const argv = ["plugin", "activate", ...plugins.map(({ slug }) => slug), ...network];
  const command = { phpVersion, argv, seconds: activationSeconds };
  const { exitCode, stderr } = await runtime.runWpCli(environment, command, async () => undefined, signal);
  if (exitCode === 0) return;
  const message = stderr.text.trim().slice(0, 500);
  throw new StepFailure(`The plugins could not be activated${message === "" ? "." : `: ${message}`}`);
}

/** Removes the work folder of a process that was killed. */
export function removePluginWork({ archives }: Pick<Services, "archives">, operationId: string): Promise<void> {
  return archives.removeWorkFolder(workFolderName(operationId));
}
