/** The current runtime and PHP version of an environment, which may have changed since the operation was accepted. */
import type { Database } from "../../store/database.ts";
import { findPhp, type Php } from "../../store/sites/environmentStates.ts";
import { StepFailure } from "../engine/operation.ts";

/** Throws `StepFailure` if the environment has been deleted. */
export async function phpOf(database: Database, environmentId: string): Promise<Php> {
  const found = await findPhp(database, environmentId);
  if (!found) throw new StepFailure("The environment no longer exists.");
  return found;
}
