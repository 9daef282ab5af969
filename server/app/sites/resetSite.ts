/** Replaces the content of a site's live environment with a fresh WordPress. */
import { randomUUID } from "node:crypto";
import type { SiteReset } from "@sitewright/contract/sites/reset.ts";
import { passwordDigest } from "@sitewright/runtimes/password.ts";
import type { ResetSiteInput } from "@sitewright/server/operations/sites/resetSite.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { type EnvironmentFacts, environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import { nextEnvironmentNumber } from "@sitewright/server/store/sites/environments.ts";
import { siteForOperation } from "@sitewright/server/store/sites/sites.ts";
import type { Static } from "typebox";
import type { Context } from "../context.ts";
import { NotFound } from "../failures.ts";
import { addressOf } from "./addresses.ts";
import { environmentInput } from "./environmentInput.ts";

/** Starts the reset. Returns the operation's id. */
export function reset(context: Context, siteId: string, request: Static<typeof SiteReset>): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const live = await liveOf(transaction, siteId);
    const input: ResetSiteInput = {
      token: randomUUID(),
      environment: environmentInput(live),
      scratch: {
        id: randomUUID(),
        number: await nextEnvironmentNumber(transaction),
        companyId: live.company_id,
        runtime: live.runtime,
      },
      address: addressOf(context.settings, live),
    };
    const { operationId } = await context.acceptOperation(transaction, {
      kind: "resetSite",
      companyId: live.company_id,
      siteId: live.site_id,
      environmentId: live.id,
      locks: [live.id],
      input,
      secret: passwordDigest(request.admin_password),
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: { siteName: live.site_display_name },
    });
    return operationId;
  });
}

async function liveOf(transaction: DatabaseTransaction, siteId: string): Promise<EnvironmentFacts> {
  const site = await siteForOperation(transaction, siteId);
  const live = site?.environments.find(({ name }) => name === "live");
  const facts = live === undefined ? null : await environmentForOperation(transaction, live.id);
  if (facts === null) throw new NotFound();
  return facts;
}
