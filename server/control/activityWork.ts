/** The activity log. */
import { noteSiteLogin } from "../app/company/siteLogins.ts";
import { pruneActivity } from "../audit/prune.ts";
import { sealActivity } from "../audit/seal.ts";
import type { TakenLogin } from "../clients/edgeClient.ts";
import { collectLogins } from "../reconcilers/collectLogins.ts";
import type { Reconciler } from "../reconcilers/schedule.ts";
import { countActivity } from "../store/company/activityCounts.ts";
import type { NamedEnvironment } from "../store/sites/environments.ts";
import type { PeriodicWorkOptions } from "./periodicWorkOptions.ts";
import { hour, minute } from "./periods.ts";

export function workOnActivity(options: PeriodicWorkOptions): Reconciler[] {
  const { database, edge, config, repeatedActivity, writeRepeatedActivity } = options;
  const noteLogin = (environment: NamedEnvironment, login: TakenLogin) =>
    noteSiteLogin(repeatedActivity, environment, login);
  const { data, activityDays: days } = config;
  return [
    {
      name: "sealActivity",
      work: "Sealing the activity log",
      everySeconds: 1,
      retrySeconds: 5,
      run: () => sealActivity({ database, data }),
    },
    {
      name: "countActivity",
      work: "Counting the activity log",
      everySeconds: 5,
      retrySeconds: 5,
      run: () => countActivity(database),
    },
    {
      name: "collectLogins",
      work: "Collecting logins at sites",
      everySeconds: 10,
      retrySeconds: 10,
      run: () => collectLogins({ database, edge, note: noteLogin }),
    },
    {
      name: "writeRepeatedActivity",
      work: "Writing the activity log",
      everySeconds: minute,
      retrySeconds: 5,
      run: writeRepeatedActivity,
    },
    {
      name: "pruneActivity",
      work: "Removing old entries of the activity log",
      everySeconds: hour,
      retrySeconds: minute,
      run: () => pruneActivity({ database, data, days }),
    },
  ];
}
