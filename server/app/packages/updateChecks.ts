/** Pages that an update of an environment is tried out with. */
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

export interface UpdateChecksWish {
  readonly update_checks: readonly string[];
  readonly picture_threshold?: number | null;
}

/** Replaces all of it; each path is kept once. */
export function replace(
  context: Context,
  environmentId: string,
  { update_checks, picture_threshold = null }: UpdateChecksWish,
) {
  if (picture_threshold !== null && !context.hasBrowser) {
    const sentence = "This machine has no Chromium to look at sites with: install one, or leave picture_threshold out.";
    throw new Refused("no_browser", sentence);
  }
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, environmentId);
    const kept = { update_checks: [...new Set(update_checks)], picture_threshold };
    await setUpdateChecks(transaction, environment.id, kept);
    await recordDone(context, transaction, {
      type: "replaceUpdateChecks",
      category: "siteActions",
      siteId: environment.site_id,
      parameters: { environmentName: environment.display_name, siteName: environment.site_display_name },
    });
    return { id: environment.id, ...kept };
  });
}
