import { namespacesAdvice } from "@sitewright/runtimes/confinement.ts";
import type { Logger } from "pino";

/** Logs at startup that sites' databases are read with less protection than intended. `problem`: as of `confinementProblem`. */
export function warnAboutConfinement(problem: string | null, log: Pick<Logger, "warn">): void {
  if (problem === null) return;
  log.warn(
    { reason: problem },
    `Root can't make namespaces here, so processes that read sites' databases are separated only by their user. ${namespacesAdvice}`,
  );
}
