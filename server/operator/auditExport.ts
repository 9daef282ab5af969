/** `audit export`: the activity log as a file. */
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { writeActivity } from "../app/company/activityExport.ts";
import { recordOperatorAction } from "../store/company/activity.ts";
import { readActivity } from "../store/company/activityExport.ts";
import { operatorActor } from "./actor.ts";
import { absolutePath } from "./backup.ts";
import type { Run } from "./command.ts";
import { withRunningDatabase } from "./database.ts";
import { Failure, usageError } from "./failure.ts";
import { plural } from "./formatting.ts";

/** The file must not exist yet, and is readable only by its owner. */
export const exportLog: Run = ({ words: [file = ""], flags }, { config, env }) =>
  withRunningDatabase(config, async (database) => {
    const companyId = typeof flags.company === "string" ? flags.company.toLowerCase() : null;
    if (companyId !== null && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(companyId)) {
      throw new Failure(`${companyId} is not the id of a company. List them with: company list`, usageError);
    }
    const path = absolutePath(file, env);
    const format = flags.csv === true ? "csv" : "jsonl";
    const filter = { companyId, siteIds: null, category: null, from: timeOf(flags.from), to: timeOf(flags.to) };
    let entries = 0;
    async function* counted() {
      for await (const page of readActivity(database, filter)) {
        entries += page.length;
        yield page;
      }
    }
    await pipeline(writeActivity(counted(), format), createWriteStream(path, { flags: "wx", mode: 0o600 })).catch(
      explain,
    );
    const parameters = { companyId: companyId ?? "all" };
    await database
      .transaction()
      .execute((transaction) =>
        recordOperatorAction(transaction, { type: "exportActivity", parameters, actor: operatorActor() }),
      );
    return `Wrote ${plural(entries, "entry")} to ${path}.`;
  });

function timeOf(flag: string | boolean | undefined): Date | null {
  if (typeof flag !== "string") return null;
  const time = new Date(flag);
  if (!Number.isNaN(time.getTime())) return time;
  throw new Failure(`${flag} is not a time. Write it as 2026-11-01 or 2026-11-01T12:00:00Z.`, usageError);
}

function explain(error: NodeJS.ErrnoException): never {
  if (error.code !== "EEXIST") throw error;
  throw new Failure(`${error.path} already exists. Choose another file.`, usageError, { cause: error });
}
