/** Environments themselves. */
import { makeRebuild } from "../app/backups/rebuild.ts";
import { makePhpUpdate } from "../app/sites/automaticPhp.ts";
import { expireLogs } from "../reconcilers/expireLogs.ts";
import { rebuildEnvironments } from "../reconcilers/rebuildEnvironments.ts";
import type { Reconciler } from "../reconcilers/schedule.ts";
import { updatePhp } from "../reconcilers/updatePhp.ts";
import type { PeriodicWorkOptions } from "./periodicWorkOptions.ts";
import { minute } from "./periods.ts";

export function workOnEnvironments({
  database,
  logs,
  acceptOperation,
  config,
  phpVersions,
}: PeriodicWorkOptions): Reconciler[] {
  const starting = { database, settings: config, acceptOperation };
  const moved = { database, startedAt: new Date(), rebuild: makeRebuild(starting) };
  const php = { database, ended: config.endedPhpVersions, offered: phpVersions, change: makePhpUpdate(starting) };
  return [
    {
      name: "rebuildEnvironments",
      work: "Restoring environments after a move",
      everySeconds: 3,
      retrySeconds: 10,
      run: () => rebuildEnvironments(moved),
    },
    {
      name: "updatePhp",
      work: "Updating PHP versions",
      everySeconds: 5 * minute,
      retrySeconds: minute,
      run: () => updatePhp(php),
    },
    {
      name: "expireLogs",
      work: "Removing old logs",
      everySeconds: 10 * minute,
      retrySeconds: minute,
      run: () => expireLogs({ database, logs }),
    },
  ];
}
