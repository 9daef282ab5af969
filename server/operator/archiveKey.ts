/** `archive-key rotate`: replaces the key that encrypts backups, while the installation runs. */
import { rotateArchiveKey } from "../rotation/rotateArchiveKey.ts";
import { archiveKeyFile } from "../sealedSettings.ts";
import { recordOperatorAction } from "../store/company/activity.ts";
import { operatorActor } from "./actor.ts";
import type { Run } from "./command.ts";
import { withRunningDatabase } from "./database.ts";
import { exitFailed, Failure } from "./failure.ts";
import { plural } from "./formatting.ts";

export const rotate: Run = ({ flags }, { config }) =>
  withRunningDatabase(config, async (database) => {
    const state = await rotateArchiveKey({ database, data: config.data }, { isForced: flags.force === true });
    const file = archiveKeyFile(config.data);
    if (state === null) throw new Failure(`${file} is missing. Put it back: the backups need it.`, exitFailed);
    const action = { type: "rotateArchiveKey", parameters: {}, actor: operatorActor() };
    await database.transaction().execute((transaction) => recordOperatorAction(transaction, action));
    if (flags.json === true) return JSON.stringify(state);
    if (state.olderKeys === 0) return `The rotation has ended: ${file} has one key.`;
    return [
      "New backups are encrypted with the newest key.",
      `${plural(state.olderPacks, "pack")} in the archives still ${state.olderPacks === 1 ? "needs" : "need"} an older one.`,
      "Sitewright removes it when the backups that need it have expired, after a week at the earliest.",
      "Back up the installation now: older backups lack the new key.",
    ].join("\n");
  });
