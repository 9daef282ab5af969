/** Plugins and themes. */
import { makeAutomaticUpdate } from "../app/packages/automaticUpdateStarts.ts";
import { makeRolloutStart } from "../app/packages/rolloutStarts.ts";
import { checkForUpdates } from "../reconcilers/checkForUpdates.ts";
import { expireScreenshots } from "../reconcilers/expireScreenshots.ts";
import { readAdvisories } from "../reconcilers/readAdvisories.ts";
import { readDuePackages, readNewPackages } from "../reconcilers/readPackages.ts";
import { runRollouts } from "../reconcilers/runRollouts.ts";
import type { Reconciler } from "../reconcilers/schedule.ts";
import { updateAutomatically } from "../reconcilers/updateAutomatically.ts";
import type { PeriodicWorkOptions } from "./periodicWorkOptions.ts";
import { hour, minute } from "./periods.ts";

export function workOnPackages(options: PeriodicWorkOptions): Reconciler[] {
  const { database, runtime, packageSource, acceptOperation, config, signal } = options;
  const { advisories: place } = config;
  const automatic = { database, begin: makeAutomaticUpdate({ database, settings: config, acceptOperation }) };
  const rollouts = { database, begin: makeRolloutStart({ settings: config, acceptOperation }) };
  const installed = { database, runtime };
  const reading = { work: "Reading installed plugins and themes", retrySeconds: 10 };
  const asking = { name: "checkForUpdates", work: "Checking for updates", everySeconds: 10, retrySeconds: 5 * minute };
  return [
    { ...reading, name: "readNewPackages", everySeconds: 3, run: () => readNewPackages(installed, signal) },
    { ...reading, name: "readPackages", everySeconds: minute, run: () => readDuePackages(installed, signal) },
    {
      name: "expireScreenshots",
      work: "Removing old screenshots",
      everySeconds: hour,
      retrySeconds: minute,
      run: () => expireScreenshots(config.screenshots),
    },
    {
      name: "runRollouts",
      work: "Running rollouts",
      everySeconds: 1,
      retrySeconds: 5,
      run: () => runRollouts(rollouts),
    },
    ...(packageSource === null
      ? []
      : [
          { ...asking, run: () => checkForUpdates({ database, source: packageSource }, signal) },
          {
            name: "updateAutomatically",
            work: "Starting automatic updates",
            everySeconds: 20,
            retrySeconds: minute,
            run: () => updateAutomatically(automatic),
          },
        ]),
    ...(place === null
      ? []
      : [
          {
            name: "readAdvisories",
            work: "Reading the vulnerability feed",
            everySeconds: minute,
            retrySeconds: 5 * minute,
            run: () => readAdvisories({ database, place }, signal),
          },
        ]),
  ];
}
