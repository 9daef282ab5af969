/** Update checks of an environment: the pages that are tested before an update goes live. */
import { findUpdateChecks, setUpdateChecks } from "@sitewright/server/store/packages/updateChecks.ts";
import { recordDone } from "../company/activityEntries.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { requireEnvironment } from "../sites/environmentOperations.ts";

export async function get({ database }: Context, environmentId: string) {
  const found = await findUpdateChecks(database, environmentId);
  if (!found) throw new NotFound();
  return { ...found, update_checks: [...found.update_checks] };
}

interface UpdateChecks {
  readonly update_checks: readonly string[];
  readonly picture_threshold?: number | null;
}

/** Replaces all update checks. Removes duplicate paths. */
export function replace(
  context: Context,
  environmentId: string,
  { update_checks, picture_threshold = null }: UpdateChecks,
) {
  if (picture_threshold !== null && !context.hasBrowser) {
    const message =
      "There is no Chromium on this machine to take screenshots. Install it, or leave picture_threshold out.";
    throw new Refused("no_browser", message);
  }
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, environmentId);
    const checks = { update_checks: [...new Set(update_checks)], picture_threshold };
    await setUpdateChecks(transaction, environment.id, checks);
    await recordDone(context, transaction, {
      type: "replaceUpdateChecks",
      category: "siteActions",
      siteId: environment.site_id,
      parameters: { environmentName: environment.display_name, siteName: environment.site_display_name },
    });
    return { id: environment.id, ...checks };
  });
}
