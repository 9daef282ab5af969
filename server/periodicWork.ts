/** Everything that the control process does by itself, again and again. */
import { makePhpUpdate } from "./app/automaticPhp.ts";
import { makeProof } from "./app/automaticProofs.ts";
import { makeRebuild } from "./app/rebuild.ts";
import { makeScheduledBackup } from "./app/scheduledBackups.ts";
import type { Archives } from "./archives/archives.ts";
import type { Downloads } from "./archives/downloads.ts";
import type { Config } from "./config.ts";
import type { AcceptOperation } from "./operations/accept.ts";
import { deleteJournals } from "./operations/engine.ts";
import { expire } from "./reconcilers/expire.ts";
import { expireBackups } from "./reconcilers/expireBackups.ts";
import { expireDownloads } from "./reconcilers/expireDownloads.ts";
import { proveBackups } from "./reconcilers/proveBackups.ts";
import type { Publisher } from "./reconcilers/publishRoutes.ts";
import { rebuildEnvironments } from "./reconcilers/rebuildEnvironments.ts";
import type { Reconciler } from "./reconcilers/schedule.ts";
import { scheduleBackups } from "./reconcilers/scheduleBackups.ts";
import { updatePhp } from "./reconcilers/updatePhp.ts";
import type { Database } from "./store/database.ts";
import { beginWaiting } from "./store/operations.ts";

export interface PeriodicWorkOptions {
  readonly database: Database;
  readonly publisher: Publisher;
  readonly archives: Archives;
  readonly downloads: Downloads;
  readonly acceptOperation: AcceptOperation;
  readonly config: Config;
  readonly phpVersions: readonly string[];
}

const minute = 60;
const hour = 60 * minute;

export function periodicWork(options: PeriodicWorkOptions): readonly Reconciler[] {
  const { database, publisher } = options;
  return [
    { name: "publishRoutes", everySeconds: 30, retrySeconds: 1, run: publisher.reconcile },
    {
      name: "beginWaiting",
      everySeconds: 30,
      retrySeconds: 30,
      run: async () => {
        await database.transaction().execute(beginWaiting);
      },
    },
    { name: "expire", everySeconds: hour, retrySeconds: minute, run: () => expire({ database, deleteJournals }) },
    ...workOnEnvironments(options),
    ...workOnBackups(options),
  ];
}

function workOnEnvironments({ database, acceptOperation, config, phpVersions }: PeriodicWorkOptions): Reconciler[] {
  const starting = { database, settings: config, acceptOperation };
  const moved = { database, startedAt: new Date(), rebuild: makeRebuild(starting) };
  const php = { database, ended: config.endedPhpVersions, offered: phpVersions, change: makePhpUpdate(starting) };
  return [
    { name: "rebuildEnvironments", everySeconds: 3, retrySeconds: 10, run: () => rebuildEnvironments(moved) },
    { name: "updatePhp", everySeconds: 5 * minute, retrySeconds: minute, run: () => updatePhp(php) },
  ];
}

function workOnBackups(options: PeriodicWorkOptions): Reconciler[] {
  const { database, archives, downloads, acceptOperation, config } = options;
  const starting = { database, settings: config, acceptOperation };
  const backups = { database, hours: config.backupHours, begin: makeScheduledBackup(starting) };
  const proofs = { database, perDay: config.proofsPerDay, prove: makeProof(starting) };
  return [
    { name: "scheduleBackups", everySeconds: 5, retrySeconds: 30, run: () => scheduleBackups(backups) },
    { name: "proveBackups", everySeconds: 30, retrySeconds: minute, run: () => proveBackups(proofs) },
    {
      name: "expireBackups",
      everySeconds: 10 * minute,
      retrySeconds: minute,
      run: () => expireBackups({ database, archives }),
    },
    {
      name: "expireDownloads",
      everySeconds: 5 * minute,
      retrySeconds: minute,
      run: () => expireDownloads({ database, downloads }),
    },
  ];
}
