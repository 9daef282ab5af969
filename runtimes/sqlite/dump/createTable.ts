/** Writes `CREATE TABLE` for MySQL and MariaDB. */

import type { AdaptedColumn, AdaptedTable } from "./adaptTable.ts";
import { quotedName, quotedText, writeType } from "./columnType.ts";
import type { ForeignKey, Key } from "./schema.ts";

function currentTimestamp(type: AdaptedColumn["type"]): string {
  return type.length === null ? "CURRENT_TIMESTAMP" : `CURRENT_TIMESTAMP(${type.length})`;
}

function defaultOf({ default: value, type, isNullable, isAutoIncrement }: AdaptedColumn): string {
  if (value === null) return isNullable && !isAutoIncrement ? " DEFAULT NULL" : "";
  if (value === "CURRENT_TIMESTAMP" && type.family === "date") return ` DEFAULT ${currentTimestamp(type)}`;
  return ` DEFAULT ${type.family === "bit" ? value : quotedText(value)}`;
}

function columnLine(column: AdaptedColumn, tableCollation: string): string {
  const { name, type, collation, isNullable, isAutoIncrement, isUpdatedOnChange, comment } = column;
  const hasOwn = collation !== null && collation !== tableCollation && ["text", "choice"].includes(type.family);
  return [
    `  ${quotedName(name)} ${writeType(type)}`,
    hasOwn ? ` COLLATE ${collation}` : "",
    // A timestamp without NULL or NOT NULL is NOT NULL.
    isNullable ? (type.base === "timestamp" ? " NULL" : "") : " NOT NULL",
    defaultOf(column),
    isAutoIncrement ? " AUTO_INCREMENT" : "",
    isUpdatedOnChange ? ` ON UPDATE ${currentTimestamp(type)}` : "",
    comment === "" ? "" : ` COMMENT ${quotedText(comment)}`,
  ].join("");
}

function keyLine({ name, isUnique, kind, parts }: Key): string {
  const columns = parts
    .map(({ column, prefix }) => quotedName(column) + (prefix === null ? "" : `(${prefix})`))
    .join(",");
  if (name === "PRIMARY") return `  PRIMARY KEY (${columns})`;
  const word = kind === "fulltext" ? "FULLTEXT KEY" : isUnique ? "UNIQUE KEY" : "KEY";
  return `  ${word} ${quotedName(name)} (${columns})`;
}

const actions = ["CASCADE", "SET NULL", "RESTRICT"];

function foreignLine({ name, columns, table, references, onDelete, onUpdate }: ForeignKey): string {
  const names = (list: readonly string[]) => list.map(quotedName).join(",");
  const rule = (event: string, action: string) => (actions.includes(action) ? ` ON ${event} ${action}` : "");
  return [
    `  CONSTRAINT ${quotedName(name)} FOREIGN KEY (${names(columns)}) REFERENCES ${quotedName(table)} (${names(references)})`,
    rule("DELETE", onDelete),
    rule("UPDATE", onUpdate),
  ].join("");
}

export function createTable({ name, columns, keys, foreignKeys, collation, comment, next }: AdaptedTable): string {
  const lines = [
    ...columns.map((column) => columnLine(column, collation)),
    ...keys.map(keyLine),
    ...foreignKeys.map(foreignLine),
  ];
  const counterOption =
    next !== null && next > 1n && columns.some(({ isAutoIncrement }) => isAutoIncrement)
      ? ` AUTO_INCREMENT=${next}`
      : "";
  const commentOption = comment === "" ? "" : ` COMMENT=${quotedText(comment)}`;
  const options = `ENGINE=InnoDB${counterOption} DEFAULT CHARSET=utf8mb4 COLLATE=${collation}${commentOption}`;
  return `CREATE TABLE ${quotedName(name)} (\n${lines.join(",\n")}\n) ${options};\n`;
}
