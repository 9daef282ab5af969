/** `domain confirm`: says that a company owns a domain. */
import { confirmOwnership } from "../app/domains/confirmOwnership.ts";
import { operatorActor } from "./actor.ts";
import type { Run } from "./command.ts";
import { withRunningDatabase } from "./database.ts";
import { exitFailed, Failure } from "./failure.ts";

export const confirm: Run = ({ words: [name = ""] }, { config }) =>
  withRunningDatabase(config, async (database) => {
    const domain = await confirmOwnership(database, name, operatorActor());
    if (domain !== null) return `"${domain.name}" of the site "${domain.siteName}" is now proven, and will be served.`;
    const message = `No company has a domain "${name}" that waits for a proof. The company must add it first.`;
    throw new Failure(message, exitFailed);
  });
