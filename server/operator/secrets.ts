/** `secrets rotate`: replaces the key that seals secrets, while the installation runs. */
import { rotateSecrets } from "../rotation/rotateSecrets.ts";
import { recordOperatorAction } from "../store/company/activity.ts";
import { operatorActor } from "./actor.ts";
import type { Run } from "./command.ts";
import { withRunningDatabase } from "./database.ts";

export const rotate: Run = ({ flags }, { config }) =>
  withRunningDatabase(config, async (database) => {
    const state = await rotateSecrets({ database, data: config.data }, { isForced: flags.force === true });
    const action = { type: "rotateSecrets", parameters: {}, actor: operatorActor() };
    await database.transaction().execute((transaction) => recordOperatorAction(transaction, action));
    if (flags.json === true) return JSON.stringify(state);
    const sealed = `${state.count} secrets are now sealed with the newest key in secrets/key.`;
    if (state.olderKeys === 0) return `${sealed} No older key is left.`;
    return [
      `${sealed} ${state.olderKeys === 1 ? "The older key is" : `${state.olderKeys} older keys are`} kept for:`,
      ...state.remaining.map((reason) => `  ${reason}`),
      "Sitewright removes them by itself when nothing needs them. Back up the installation now: older backups lack the new key.",
    ].join("\n");
  });
