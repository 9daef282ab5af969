/** What differs between two backups. */
import type { compareBackups } from "@sitewright/contract/backups/backupComparison.ts";
import type { Result } from "@sitewright/contract/endpoint.ts";
import { findBackup } from "@sitewright/server/store/backups/backups.ts";
import type { FinishedBackup } from "@sitewright/server/store/backups/finishedBackup.ts";
import { findRowCounts } from "@sitewright/server/store/backups/testRestores.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import type { DifferentFiles } from "./backupDifferences.ts";
import { requireBackup } from "./backups.ts";

type Comparison = Result<typeof compareBackups>;
type RowCounts = Readonly<Record<string, number>>;

/** `earlierId` is checked like that of a restore. */
export async function compare(context: Context, laterId: number, earlierId: number): Promise<Comparison> {
  await requireBackup(context, context.database, earlierId, "with");
  const [before, after] = [await backupOf(context, earlierId), await backupOf(context, laterId)];
  const files = await context.readInTurn(() => context.compareBackups(before, after));
  if (files === null) {
    throw new Refused("backup_damaged", "The list of files of one of the backups is missing or damaged.", {});
  }
  const [earlier, later] = [await rowsOf(context, before), await rowsOf(context, after)];
  const tables = earlier === null || later === null ? null : differingTables(earlier, later);
  return { files: { added: view(files.added), changed: view(files.changed), removed: view(files.removed) }, tables };
}

const view = ({ listed, ...sums }: DifferentFiles) => ({ ...sums, listed: [...listed] });

async function backupOf({ database }: Context, id: number): Promise<FinishedBackup> {
  const backup = await findBackup(database, id);
  if (backup === null) throw new NotFound();
  return backup;
}

const rowsOf = ({ database }: Context, { id }: FinishedBackup): Promise<RowCounts | null> =>
  findRowCounts(database, id);

function differingTables(earlier: RowCounts, later: RowCounts) {
  const tables = [...new Set([...Object.keys(earlier), ...Object.keys(later)])].toSorted();
  return tables
    .map((table) => ({ table, before: earlier[table] ?? null, after: later[table] ?? null }))
    .filter(({ before, after }) => before !== after);
}
