/** Search and replace in an environment's database: which requests are valid, and how it starts. */
import { randomUUID } from "node:crypto";
import type { SearchAndReplace } from "@sitewright/contract/sites/searchAndReplace.ts";
import type { SearchAndReplaceInput } from "@sitewright/server/operations/sites/searchAndReplace.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Static } from "typebox";
import { isNonLive } from "../company/access.ts";
import type { Context } from "../context.ts";
import { NotAllowed, NotFound, Refused } from "../failures.ts";
import { addressOf } from "./addresses.ts";
import { environmentInput } from "./environmentInput.ts";

/** Starts the replacement, or the preview. Returns the operation's id. */
export function start(context: Context, request: Static<typeof SearchAndReplace>): Promise<string> {
  const { search, replace } = request;
  if (search === replace) {
    throw new Refused("nothing_to_replace", "search and replace are the same, so nothing would change.", {
      fields: ["search", "replace"],
    });
  }
  const isPerformed = request.perform_replacement ?? false;
  return context.inTransaction(async (transaction) => {
    const environment = await environmentForOperation(transaction, request.environment_id);
    if (!environment) throw new NotFound();
    if (isPerformed && environment.name === "live" && isNonLive(context.caller)) throw new NotAllowed("live");
    const input: SearchAndReplaceInput = {
      token: randomUUID(),
      target: environmentInput(environment),
      address: addressOf(context.settings, environment),
    };
    const { operationId } = await context.acceptOperation(transaction, {
      kind: isPerformed ? "searchAndReplace" : "previewSearchAndReplace",
      input,
      // People search for passwords and keys, too.
      secret: JSON.stringify({ search, replace }),
      companyId: environment.company_id,
      siteId: environment.site_id,
      environmentId: environment.id,
      locks: [environment.id],
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: { environmentName: environment.display_name, siteName: environment.site_display_name },
    });
    return operationId;
  });
}
