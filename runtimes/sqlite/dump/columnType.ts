/** MySQL column types, such as `bigint(20) unsigned`. */

/** Groups of types that are checked and written alike. */
export type Family = "integer" | "number" | "bit" | "text" | "choice" | "json" | "binary" | "date" | "time" | "year";

export interface ColumnType {
  readonly base: string;
  readonly family: Family;
  /** `20` of `bigint(20)`, `10` of `decimal(10,2)`, `6` of `datetime(6)`. */
  readonly length: number | null;
  readonly scale: number | null;
  readonly isUnsigned: boolean;
  /** Values of `enum` and `set`. */
  readonly choices: readonly string[];
}

const familyOf: Readonly<Record<string, Family>> = {
  tinyint: "integer",
  smallint: "integer",
  mediumint: "integer",
  int: "integer",
  bigint: "integer",
  decimal: "number",
  float: "number",
  double: "number",
  bit: "bit",
  char: "text",
  varchar: "text",
  tinytext: "text",
  text: "text",
  mediumtext: "text",
  longtext: "text",
  enum: "choice",
  set: "choice",
  json: "json",
  binary: "binary",
  varbinary: "binary",
  tinyblob: "binary",
  blob: "binary",
  mediumblob: "binary",
  longblob: "binary",
  date: "date",
  datetime: "date",
  timestamp: "date",
  time: "time",
  year: "year",
};

const otherNames: Readonly<Record<string, string>> = {
  bool: "tinyint",
  boolean: "tinyint",
  integer: "int",
  serial: "bigint",
  dec: "decimal",
  fixed: "decimal",
  numeric: "decimal",
  real: "double",
  nchar: "char",
  nvarchar: "varchar",
};

/** The largest number that MySQL accepts in parentheses. Types that are not listed have none. */
const maxLength: Readonly<Record<string, number>> = {
  tinyint: 255,
  smallint: 255,
  mediumint: 255,
  int: 255,
  bigint: 255,
  decimal: 65,
  float: 255,
  double: 255,
  bit: 64,
  char: 255,
  varchar: 16_383,
  binary: 255,
  varbinary: 65_000,
  datetime: 6,
  timestamp: 6,
  time: 6,
};
const maxScale = 30;
/** Lengths of types that are written without parentheses. */
const defaultLength: Readonly<Record<string, number>> = { decimal: 10, bit: 1, char: 1, binary: 1 };

const typePattern = /^([a-z]+)\s*(?:\((.*)\))?((?:\s+(?:unsigned|signed|zerofill))*)$/is;
const choicePattern = /'((?:[^'\\]|''|\\.)*)'/gs;

export function typeNamed(base: string, length: number | null = null): ColumnType {
  const family = familyOf[base];
  if (family === undefined) throw new Error(`MySQL has no type ${base}`);
  return { base, family, length, scale: null, isUnsigned: false, choices: [] };
}

/** Parses a type. Null if it is not a type, or one that WordPress's SQLite driver does not support, such as `point`. */
export function parseType(text: string): ColumnType | null {
  const [, name = "", inside, attributes = ""] = typePattern.exec(text.trim()) ?? [];
  const base = otherNames[name.toLowerCase()] ?? name.toLowerCase();
  const family = familyOf[base];
  if (family === undefined) return null;
  const type = { ...typeNamed(base), isUnsigned: /unsigned/i.test(attributes) };
  if (family === "choice") {
    const choices = Array.from((inside ?? "").matchAll(choicePattern), ([, one = ""]) => one.replaceAll("''", "'"));
    return choices.length === 0 ? null : { ...type, choices };
  }
  return withLength(type, inside);
}

function withLength(type: ColumnType, inside: string | undefined): ColumnType | null {
  const { base } = type;
  const [length = defaultLength[base] ?? null, scale = null] = numbersIn(inside);
  if (length === null) return base === "varchar" || base === "varbinary" ? null : type;
  const max = maxLength[base];
  // Such as `longtext(100)`: MySQL chooses a type for that length, and this one is long enough.
  if (max === undefined) return type;
  if (length > max || (scale ?? 0) > Math.min(maxScale, length)) return null;
  return { ...type, length, scale };
}

function numbersIn(text: string | undefined): readonly number[] {
  return text !== undefined && /^\s*\d{1,9}\s*(,\s*\d{1,9}\s*)?$/.test(text) ? text.split(",").map(Number) : [];
}

/** Writes a type for `CREATE TABLE`. Only checked values reach the SQL. */
export function writeType({ base, length, scale, isUnsigned, choices }: ColumnType): string {
  const inside = choices.length > 0 ? choices.map(quotedText) : [length, scale].filter((each) => each !== null);
  return `${base}${inside.length > 0 ? `(${inside.join(",")})` : ""}${isUnsigned ? " unsigned" : ""}`;
}

/** Whether values are stored outside the row: such columns have no default, and keys on them need a prefix. */
export function isLong({ base, family }: ColumnType): boolean {
  return family === "json" || /(text|blob)$/.test(base);
}

/** Maximum bytes of a value within the row; a few for values stored outside. */
export function widthOf(type: ColumnType): number {
  if (isLong(type) || type.length === null) return 12;
  if (type.family === "text") return type.length * 4 + 2;
  return type.family === "binary" ? type.length + 2 : 32;
}

const escapes: Readonly<Record<string, string>> = {
  "\0": "\\0",
  "\n": "\\n",
  "\r": "\\r",
  "\u001a": "\\Z",
  "'": "\\'",
  "\\": "\\\\",
};

/** Quotes a text for MySQL, for all SQL modes that a dump sets. Always on one line. */
export function quotedText(text: string): string {
  return `'${text.replace(/\p{Cc}|['\\]/gu, (character) => escapes[character] ?? character)}'`;
}

/** Quotes a name for MySQL. */
export function quotedName(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}
