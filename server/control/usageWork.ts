/** What sites use, and their visitors. */
import { expireAnalytics, makeCollectAnalytics } from "../reconcilers/collectAnalytics.ts";
import { expireUsage, makeCollectUsage } from "../reconcilers/collectUsage.ts";
import { measureDisk } from "../reconcilers/measureDisk.ts";
import type { Reconciler } from "../reconcilers/schedule.ts";
import type { PeriodicWorkOptions } from "./periodicWorkOptions.ts";
import { hour, minute } from "./periods.ts";

export function workOnUsage({ database, edge, runtime, publisher, config }: PeriodicWorkOptions): Reconciler[] {
  const disk = { database, runtime, publisher, diskQuotaBytes: config.diskQuotaBytes };
  return [
    {
      name: "collectUsage",
      work: "Collecting usage",
      everySeconds: 10,
      retrySeconds: 10,
      run: makeCollectUsage({ database, edge }),
    },
    {
      name: "collectAnalytics",
      work: "Collecting counts of requests",
      everySeconds: 10,
      retrySeconds: 10,
      run: makeCollectAnalytics({ database, edge }),
    },
    {
      name: "expireAnalytics",
      work: "Removing old counts of requests",
      everySeconds: hour,
      retrySeconds: minute,
      run: () => expireAnalytics({ database }),
    },
    {
      name: "expireUsage",
      work: "Removing old usage records",
      everySeconds: hour,
      retrySeconds: minute,
      run: () => expireUsage({ database }),
    },
    {
      name: "measureDisk",
      work: "Measuring disk usage",
      everySeconds: 5,
      retrySeconds: 30,
      run: () => measureDisk(disk),
    },
  ];
}
