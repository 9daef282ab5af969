/** `audit verify` and `audit accept`: the hash chains of the activity log. */
import { readHeads, writeHeads } from "../audit/heads.ts";
import { type ChainReport, verifyActivity } from "../audit/verify.ts";
import { recordOperatorAction } from "../store/company/activity.ts";
import { deleteAllSeals, whileNotSealing } from "../store/company/activitySeals.ts";
import { operatorActor } from "./actor.ts";
import type { Run } from "./command.ts";
import { withRunningDatabase } from "./database.ts";
import { exitFailed } from "./failure.ts";
import { plural } from "./formatting.ts";

/** Fails if a chain is broken. */
export const verify: Run = async ({ flags }, { config }) => {
  const reports = await withRunningDatabase(config, (database) =>
    whileNotSealing(database, async (own) => verifyActivity(own, await readHeads(config.data))),
  );
  const broken = reports.filter((report) => report.broken !== null);
  const text = flags.json === true ? JSON.stringify(reports) : describe(reports, broken);
  return { text, exitCode: broken.length > 0 ? exitFailed : 0 };
};

function describe(reports: readonly ChainReport[], broken: readonly ChainReport[]): string {
  const waiting = reports.reduce((sum, report) => sum + report.waiting, 0);
  return [
    ...broken.map(describeBreak),
    broken.length === 0
      ? `OK: ${plural(total(reports), "seal")} in ${plural(reports.length, "chain")} verified.`
      : "Compare with an export or a backup from before. Then: operator audit accept",
    ...(waiting === 0 ? [] : [`${plural(waiting, "entry")} not sealed yet.`]),
  ].join("\n");
}

const total = (reports: readonly ChainReport[]): number => reports.reduce((sum, { seals }) => sum + seals, 0);

function describeBreak({ companyId, broken }: ChainReport): string {
  const owner = companyId === null ? "the operator" : `company ${companyId}`;
  const place = broken?.activityId == null ? "" : ` (entry ${broken.activityId})`;
  return `BROKEN: the log of ${owner}, at seal ${broken?.sequence}${place}: ${broken?.reason}.`;
}

export const accept: Run = ({ words: [reason = ""] }, { config }) =>
  withRunningDatabase(config, async (database) => {
    await whileNotSealing(database, async (own) => {
      await writeHeads(config.data, new Map());
      await own.transaction().execute(async (transaction) => {
        await deleteAllSeals(transaction);
        await recordOperatorAction(transaction, {
          type: "acceptActivityLog",
          parameters: { reason },
          actor: operatorActor(),
        });
      });
    });
    return "The activity log is being sealed again as it is now. Check it in a minute: operator audit verify";
  });
