/** The backup that an operation makes before it changes an environment. Its archive is named after the operation. */
import type { EnvironmentRef } from "@sitewright/runtimes/runtime.ts";
import { beginBackup, finishBackup, removeBackup } from "../store/backups.ts";
import type { Services } from "./services.ts";

/** The operation's own id, without the prefix that says its kind. */
function archiveOf(environment: EnvironmentRef, operationId: string): string {
  return `${environment.id}/${operationId.slice(-36)}`;
}

/** Backs the environment up as it is now. Again for the same operation, the content is replaced. */
export async function backUp(
  { database, runtime, archives }: Services,
  backup: { readonly environment: EnvironmentRef; readonly operationId: string; readonly note: string },
  signal: AbortSignal,
): Promise<void> {
  const { environment, operationId, note } = backup;
  const archive = archiveOf(environment, operationId);
  await beginBackup(database, {
    environmentId: environment.id,
    name: note,
    note,
    type: "system-generated",
    operationId,
  });
  const folder = await archives.workFolder(archive);
  try {
    await runtime.snapshot(environment, folder);
    const bytes = await archives.put(archive, folder, signal);
    await finishBackup(database, operationId, archive, bytes);
  } finally {
    await archives.removeWorkFolder(archive);
  }
}

/** Undoes `backUp`; tolerates that it never happened. */
export async function removeBackUp(
  { database, archives }: Services,
  environment: EnvironmentRef,
  operationId: string,
): Promise<void> {
  const archive = archiveOf(environment, operationId);
  await removeBackup(database, operationId);
  await archives.remove(archive);
  await archives.removeWorkFolder(archive);
}
