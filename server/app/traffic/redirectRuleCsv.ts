/**
 * Redirect rules as CSV (RFC 4180), for spreadsheets. A value that a spreadsheet would run as a formula begins with an
 * apostrophe in the file.
 */
import type { StoredRule } from "@sitewright/server/store/database.ts";
import { CsvError, parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { Refused } from "../failures.ts";
import type { RuleInput } from "./redirectRuleChecks.ts";

const columns = [
  "from",
  "to",
  "type",
  "domain",
  "traffic_from_country",
  "traffic_from_country_name",
  "traffic_from_city",
  "displayed_location",
] as const satisfies readonly (keyof StoredRule)[];

export function writeCsv(rules: readonly StoredRule[]): string {
  return stringify([...rules], { header: true, columns: [...columns], escape_formulas: true });
}

/** Throws `Refused` with the line number if the text is invalid. Ignores unknown columns. */
export function readCsv(csv: string): readonly RuleInput[] {
  return read(csv).map(({ row, line }, index) => {
    const value = (name: string) => row[name]?.replace(/^'(?=[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])/, "") || null;
    const [from, to, type] = [value("from"), value("to"), value("type") ?? "permanent"];
    if (from === null || to === null) throw unreadable(`Rule ${index + 1} has no from or no to.`, line);
    if (type !== "permanent" && type !== "redirect") {
      throw unreadable(`Rule ${index + 1} must have the type permanent or redirect.`, line);
    }
    return {
      from,
      to,
      type,
      domain: value("domain"),
      traffic_from_country: value("traffic_from_country"),
      traffic_from_country_name: value("traffic_from_country_name"),
      traffic_from_city: value("traffic_from_city"),
      displayed_location: value("displayed_location"),
    };
  });
}

type Row = Readonly<Record<string, string>>;

interface NumberedRow {
  readonly row: Row;
  /** The row's last line in the text, from 1. */
  readonly line: number;
}

function read(csv: string): readonly NumberedRow[] {
  try {
    return parse<NumberedRow, Row>(csv, {
      bom: true,
      columns: true,
      skip_empty_lines: true,
      trim: true,
      on_record: (row, { lines: line }) => ({ row, line }),
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw unreadable(`The text is not valid CSV: ${error.message}.`, Number(error.lines ?? 1));
  }
}

function unreadable(message: string, line: number): Refused {
  return new Refused("csv_unreadable", message, { line });
}
