/** The activity log as JSON lines, with the seals of its hash chain, or as CSV for spreadsheets. */
import { readActivity, type SealedEntry } from "@sitewright/server/store/company/activityExport.ts";
import { stringify } from "csv-stringify/sync";
import type { Context } from "../context.ts";
import { readTimestamp } from "../timestamps.ts";
import { sitesInScope } from "./access.ts";
import { describeActivity } from "./activityDescriptions.ts";

export const exportFormats = ["jsonl", "csv"] as const;
export type ExportFormat = (typeof exportFormats)[number];

interface ExportQuery {
  readonly format?: ExportFormat;
  readonly category?: string | null;
  readonly from?: string;
  readonly to?: string;
}

/**
 * Returns the company's log as text, oldest entry first. It is read while it is sent, one page of all exports of a company at a
 * time.
 */
export function exportLog(
  context: Context,
  { format = "jsonl", category = null, from, to }: ExportQuery,
): AsyncIterable<string> {
  const period = {
    from: from === undefined ? null : readTimestamp(from),
    to: to === undefined ? null : readTimestamp(to),
  };
  const { companyId } = context.caller;
  const { actor, exports, signal } = context;
  const common = { companyId, siteId: null, category: "userManagement", type: "exportActivity" } as const;
  context.repeatedActivity.note({ ...common, parameters: {}, actor, publicError: null });
  const filter = { companyId, siteIds: sitesInScope(context.caller), category, ...period };
  const pages = readActivity(context.database, filter, (queries) => exports.run(companyId, queries, signal));
  return writeActivity(pages, format);
}

/** Yields one text for each page. */
export async function* writeActivity(
  pages: AsyncIterable<readonly SealedEntry[]>,
  format: ExportFormat,
): AsyncGenerator<string> {
  if (format === "csv") yield stringify([[...columns]]);
  for await (const page of pages) yield format === "csv" ? csvOf(page) : linesOf(page);
}

function fieldsOf({ is_sealed: _, seals: __, ...entry }: SealedEntry) {
  return {
    ...entry,
    created_at: entry.created_at.toISOString(),
    description: describeActivity(entry.type, entry.parameters, "en")?.[0] ?? null,
  };
}

function linesOf(entries: readonly SealedEntry[]): string {
  return entries
    .map((entry) => {
      const seals = entry.seals.map(({ activity_id: _, hash, ...seal }) => ({ ...seal, hash: hash.toString("hex") }));
      return `${JSON.stringify({ ...fieldsOf(entry), seals })}\n`;
    })
    .join("");
}

const columns = [
  ...["id", "created_at", "company_id", "site_id", "category", "type", "description", "parameters", "is_done"],
  ...["has_failed", "has_warning", "public_error", "ip_address", "user_id", "user_role", "user_full_name"],
  ...["user_first_name", "api_key_id", "api_key_name", "browser_name", "browser_version", "os_name"],
] as const;

/** A value that a spreadsheet would run as a formula begins with an apostrophe. */
function csvOf(entries: readonly SealedEntry[]): string {
  const rows = entries.map((entry) => ({ ...fieldsOf(entry), parameters: JSON.stringify(entry.parameters) }));
  return stringify(rows, {
    columns: [...columns],
    escape_formulas: true,
    cast: { boolean: String },
  });
}
