/** The reconcilers of the control process. */
import { expire } from "../reconcilers/expire.ts";
import type { Reconciler } from "../reconcilers/schedule.ts";
import { continueArchiveRotation } from "../rotation/rotateArchiveKey.ts";
import { continueRotation } from "../rotation/rotateSecrets.ts";
import { beginWaiting } from "../store/operations.ts";
import { workOnAccountMail } from "./accountMailWork.ts";
import { workOnActivity } from "./activityWork.ts";
import { workOnBackups } from "./backupWork.ts";
import { workOnCertificates, workOnDomains } from "./domainWork.ts";
import { workOnEnvironments } from "./environmentWork.ts";
import { workOnPackages } from "./packageWork.ts";
import type { PeriodicWorkOptions } from "./periodicWorkOptions.ts";
import { hour, minute } from "./periods.ts";
import { workOnSiteMail } from "./siteMailWork.ts";
import { workOnUsage } from "./usageWork.ts";

export function periodicWork(options: PeriodicWorkOptions): readonly Reconciler[] {
  const { database, publisher, cron } = options;
  return [
    {
      name: "publishRoutes",
      work: "Publishing sites to the edge",
      everySeconds: 3,
      retrySeconds: 1,
      run: publisher.reconcile,
    },
    {
      name: "beginWaiting",
      work: "Starting waiting operations",
      everySeconds: 30,
      retrySeconds: 30,
      run: async () => {
        await database.transaction().execute(beginWaiting);
      },
    },
    {
      name: "expire",
      work: "Removing expired records",
      everySeconds: hour,
      retrySeconds: minute,
      run: () => expire(database),
    },
    ...workOnActivity(options),
    {
      name: "countProcesses",
      work: "Counting the control processes, which share rate limits",
      everySeconds: 5,
      retrySeconds: 5,
      run: options.processes.update,
    },
    {
      name: "recordKeyUse",
      work: "Recording the use of API keys",
      everySeconds: 10,
      retrySeconds: 10,
      run: () => options.keyUse.flush(),
    },
    {
      name: "continueRotation",
      work: "Rotating keys",
      everySeconds: hour,
      retrySeconds: minute,
      run: async () => {
        await continueRotation({ database, data: options.config.data });
        await continueArchiveRotation({ database, data: options.config.data });
      },
    },
    ...workOnUsage(options),
    {
      name: "runCron",
      work: "Running scheduled tasks of sites",
      everySeconds: 10,
      retrySeconds: 10,
      run: () => cron.reconcile(),
    },
    ...workOnEnvironments(options),
    ...workOnPackages(options),
    ...workOnDomains(options),
    ...workOnCertificates(options),
    ...workOnBackups(options),
    ...workOnSiteMail(options),
    ...workOnAccountMail(options),
  ];
}
