/** The XML-RPC setting of an environment. */
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import { findXmlRpc, setXmlRpc } from "../../store/traffic/xmlRpc.ts";
import { recordDone } from "../company/activityEntries.ts";
import type { Context } from "../context.ts";
import { NotFound } from "../failures.ts";
import { changeRoutes } from "./routeChanges.ts";

export async function status(context: Context, environmentId: string) {
  const found = await findXmlRpc(context.database, environmentId);
  if (!found) throw new NotFound();
  return { id: found.id, is_enabled: found.isOn };
}

/** Turns XML-RPC on or off. The edge enforces it before the request is answered. */
export async function setStatus(context: Context, environmentId: string, isOn: boolean): Promise<void> {
  await changeRoutes(context, async (transaction) => {
    const environment = await environmentForOperation(transaction, environmentId);
    if (!environment) throw new NotFound();
    await setXmlRpc(transaction, environment.id, isOn);
    await recordDone(context, transaction, {
      type: "updateXmlRpc",
      category: "siteActions",
      siteId: environment.site_id,
      parameters: {
        environmentName: environment.display_name,
        siteName: environment.site_display_name,
        status: isOn ? "on" : "off",
      },
    });
  });
}
