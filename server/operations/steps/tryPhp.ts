/** Tries out another PHP version or runtime for an environment that visitors use, and undoes that. */
import type { EnvironmentLayout } from "@sitewright/runtimes/runtime.ts";
import type { Php } from "../../store/sites/environmentStates.ts";
import { StepFailure } from "../engine/operation.ts";
import { backUp, backupSpace, undoBackUp, workName } from "./backup.ts";
import { requireDiskSpace } from "./diskSpace.ts";
import type { EnvironmentInput } from "./environmentInput.ts";
import { inParallel } from "./inParallel.ts";
import { runTrialWithRetries } from "./runTrialWithRetries.ts";
import type { Services } from "./services.ts";
import type { TrialPage } from "./trial.ts";

export interface PhpTrial {
  readonly operationId: string;
  readonly environment: EnvironmentInput;
  readonly address: string;
  readonly php: Pick<Php, "runtime" | "version">;
  readonly pages: readonly TrialPage[];
  /** Names the site in error messages: `The site on PHP 8.4`. */
  readonly what: string;
}

interface BackupOfTrial {
  /** Name and note of the backup. */
  readonly name: string;
  /** Names the change in error messages: `The change to PHP 8.4`. */
  readonly change: string;
}

const trialSeconds = 600;

/** Tries out the pages read-only, and on a copy if one of them needs to write. Rejects with `StepFailure`. */
export async function tryPhp(services: Services, trial: PhpTrial, stop: AbortSignal): Promise<void> {
  if (await tryPages(services, trial, { layout: await layoutFor(services, trial), isReadOnly: true }, stop)) return;
  await tryPages(services, trial, { layout: await rehearse(services, trial), isReadOnly: false }, stop);
}

/**
 * Like `tryPhp`, and backs up the environment meanwhile. It is not frozen for the backup, because the change replaces neither its
 * files nor its database.
 */
export async function tryPhpAndBackUp(
  services: Services,
  trial: PhpTrial,
  { name, change }: BackupOfTrial,
  signal: AbortSignal,
): Promise<void> {
  const { environment, address, operationId } = trial;
  await requireDiskSpace(services.runtime, { copies: [await backupSpace(services.database, environment)] }, change);
  const request = { environment, address, operationId, type: "system-generated", name, note: name } as const;
  await inParallel(signal, [(stop) => tryPhp(services, trial, stop), (stop) => backUp(services, request, stop)]);
}

/** Undoes `tryPhp` and `tryPhpAndBackUp`. */
export async function undoTryPhp(
  services: Services,
  { environment, operationId }: Pick<PhpTrial, "environment" | "operationId">,
): Promise<void> {
  await removeRehearsal(services, { environment, operationId });
  await undoBackUp(services, operationId);
}

/** Removes the copy that the trial may have made. */
export async function removeRehearsal(
  { runtime }: Services,
  { environment, operationId }: Pick<PhpTrial, "environment" | "operationId">,
): Promise<void> {
  await runtime.unstage(environment, workName(operationId));
}

/** The live release, as the runtime of this PHP serves it. */
export async function layoutFor(
  { runtime }: Services,
  { environment, php }: Pick<PhpTrial, "environment" | "php">,
): Promise<EnvironmentLayout> {
  const layout = await runtime.layout({ ...environment, runtime: php.runtime });
  if (layout === null) throw new StepFailure("The environment's files are missing.");
  return layout;
}

async function tryPages(
  { runTrial }: Services,
  { environment, php, address, what, pages }: PhpTrial,
  release: { readonly layout: EnvironmentLayout; readonly isReadOnly: boolean },
  stop: AbortSignal,
): Promise<boolean> {
  for (const page of pages) {
    const candidate = { environment, php, address, what, page, ...release };
    if (!(await runTrialWithRetries(runTrial, candidate, trialSeconds, stop))) return false;
  }
  return true;
}

/** Copies the live data for the trial: on another PHP, a plugin may change its data and then fail. */
async function rehearse(
  { runtime }: Services,
  { environment, operationId, php }: PhpTrial,
): Promise<EnvironmentLayout> {
  const token = workName(operationId);
  await requireDiskSpace(runtime, { copies: [{ environment, files: 1, database: 1 }] }, "The trial");
  const nothing = { files: "none", database: "none", addresses: [] } as const;
  await runtime.stage({ environment, source: environment, token, ...nothing });
  return runtime.rehearse({ ...environment, runtime: php.runtime }, token);
}
