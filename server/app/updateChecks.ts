/** Pages that an update of an environment is tried out with. */
import { findUpdateChecks, setUpdateChecks } from "@sitewright/server/store/updateChecks.ts";
import { recordDone } from "./activityEntries.ts";
import type { Context } from "./context.ts";
import { requireEnvironment } from "./environmentOperations.ts";
import { NotFound } from "./failures.ts";

export async function get({ database }: Context, environmentId: string) {
  const found = await findUpdateChecks(database, environmentId);
  if (!found) throw new NotFound();
  return { id: found.id, update_checks: [...found.update_checks] };
}

/** Replaces the whole list; each path is kept once. */
export function replace(context: Context, environmentId: string, paths: readonly string[]) {
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, environmentId);
    const kept = [...new Set(paths)];
    await setUpdateChecks(transaction, environment.id, kept);
    await recordDone(context, transaction, {
      type: "replaceUpdateChecks",
      category: "siteActions",
      siteId: environment.site_id,
      parameters: { environmentName: environment.display_name, siteName: environment.site_display_name },
    });
    return { id: environment.id, update_checks: kept };
  });
}
