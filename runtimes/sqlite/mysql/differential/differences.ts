/** Where the layer's answers differ from MariaDB's, and why. */

/** The rows of a statement, or null for an error. */
export type Rows = readonly (readonly (string | null)[])[] | null;

export interface Difference {
  /** What the statement contains: a function or a construct. */
  readonly where: RegExp;
  readonly reason: string;
  /** Which differences are meant. Absent: all. */
  readonly when?: (mariaDb: string | null, layer: string | null) => boolean;
}

const isNumber = (value: string | null): value is string =>
  value !== null && value !== "" && Number.isFinite(Number(value));
const sameNumber = (a: string | null, b: string | null, precision: number): boolean =>
  isNumber(a) && isNumber(b) && Math.abs(Number(a) - Number(b)) <= precision * Math.max(1, Math.abs(Number(a)));
const withoutZeros = (text: string | null): string => (text ?? "").replaceAll(/\.0+(?!\d)/g, "");
const withoutSpaces = (text: string | null): string => (text ?? "").replaceAll(/(?<=[,:]) /g, "");

const reasons = {
  mysql: "MySQL answers so; MariaDB differs from it.",
  types: "SQLite has no type for it: the value's form decides, and most such values are of columns.",
  nearest: "MySQL rounds floats to the nearest even number. SQLite does not tell floats from decimals.",
};

export const differences: readonly Difference[] = [
  {
    where: /./s,
    reason: "SQLite has no decimals: trailing zeros of values inside expressions are lost, and PHP prints 14 digits.",
    when: (mariaDb, layer) => sameNumber(mariaDb, layer, 1e-12),
  },
  {
    where: /\b(?:STD|STDDEV|STDDEV_POP|STDDEV_SAMP|VARIANCE|VAR_POP|VAR_SAMP)\(/,
    reason: reasons.mysql,
    when: (mariaDb, layer) => sameNumber(mariaDb, layer, 1e-4),
  },
  { where: /\bUNIX_TIMESTAMP\(/, reason: reasons.mysql, when: (mariaDb, layer) => mariaDb === null && layer !== null },
  {
    where: /\bCONVERT_TZ\(/,
    reason: `${reasons.mysql} Since MySQL 8.0.28, Unix time ends in 3001.`,
    when: (mariaDb) => (mariaDb ?? "") > "2038",
  },
  { where: /\bJSON_CONTAINS\(/, reason: reasons.mysql, when: (mariaDb, layer) => mariaDb === "0" && layer === null },
  { where: /\bJSON_TYPE\(/, reason: reasons.mysql, when: (_, layer) => layer === "NULL" },
  {
    where: /\bJSON_/,
    reason: `${reasons.mysql} A float in a document has a fraction, if only .0.`,
    when: (mariaDb, layer) => withoutZeros(mariaDb) === withoutZeros(layer),
  },
  {
    where: /\bJSON_(?:ARRAY|OBJECT)AGG\(/,
    reason: reasons.mysql,
    when: (mariaDb, layer) => withoutSpaces(mariaDb) === withoutSpaces(layer),
  },
  {
    where: /\bJSON_(?:ARRAY|OBJECT)\(/,
    reason: "Conditions are integers in SQLite. Only TRUE and FALSE become such in a document.",
    when: (mariaDb) => /\b(?:true|false)\b/.test(mariaDb ?? ""),
  },
  { where: /\bTIME_FORMAT\(/, reason: `${reasons.mysql} A time's year is 0.`, when: (mariaDb) => mariaDb === null },
  { where: /\b(?:TIME|HOUR|MINUTE|SECOND)\(/, reason: `${reasons.types} A date has no time of day.` },
  { where: /\bEXTRACT\(DAY FROM \d/, reason: `${reasons.types} A number is a date here, and a time in MariaDB.` },
  {
    where: /\b(?:YEAR|HOUR)\(\d{12,14}\)/,
    reason: "PDO passes 32 bits of an integer to a function. A text of digits works.",
  },
  {
    where: /\bSEC_TO_TIME\(/,
    reason: "MariaDB writes the fraction of what may be a text, even if it is zero, and the largest time with one.",
    when: (mariaDb, layer) => (mariaDb ?? "").replace(/\.\d+$/, "") === layer,
  },
  {
    where: /\bSTR_TO_DATE\('2024-02-30'/,
    reason: "STR_TO_DATE does not check the day. Other functions refuse such a date here.",
  },
  {
    where: /\bDATE_FORMAT\(d[at],'%X-%V'\)/,
    reason: "MariaDB counts weeks before the year 0.",
    when: (mariaDb) => /^0000/.test(mariaDb ?? ""),
  },
  { where: /\bCAST\(SEC_TO_TIME\(.* AS DECIMAL/, reason: `${reasons.types} A time is no number.` },
  { where: /\bIFNULL\('2024-3-5'/, reason: "The driver completes dates in literals." },
  {
    where: /\b(?:LOWER|UPPER)\((?:UNHEX|INET6_ATON)\(/,
    reason: `${reasons.types} Binary strings have no upper case in MySQL.`,
  },
  {
    where: /\bROUND\(|\bCAST\(d AS SIGNED\)/,
    reason: reasons.nearest,
    when: (mariaDb, layer) => Math.abs(Number(mariaDb) - Number(layer)) <= 1,
  },
  {
    where: /\bFROM_UNIXTIME\(/,
    reason: `${reasons.mysql} Since MySQL 8.0.28, Unix time ends in 3001.`,
    when: (mariaDb) => mariaDb === null,
  },
  { where: /\bPI\(\)/, reason: "MySQL writes PI() with six digits." },
  {
    where: /\b(?:TIMESTAMP|CONVERT_TZ)\(/,
    reason: "MariaDB writes the fraction of what may be a text, even if it is zero.",
    when: (mariaDb, layer) => withoutZeros(mariaDb) === layer,
  },
  { where: /\+X'/, reason: `${reasons.mysql} A literal of bytes is a number in sums.` },
  { where: /\bPOW\(0,-1\)/, reason: "MySQL reports an error when a number is out of range. SQLite gives infinity." },
  { where: /'a ' = /, reason: "SQLite does not ignore spaces at the end of texts." },
  { where: /\bSTRCMP\(/, reason: "Signs are ordered by their numbers, and not by the collation's." },
  { where: /^SELECT 'a' 'b'$/, reason: "The driver takes the second of two literals in a row for the column's name." },
  {
    where: /\bLIKE '[^']*' [-+*]/,
    reason: "The driver translates a pattern as it is written, without operators after it.",
  },
];
