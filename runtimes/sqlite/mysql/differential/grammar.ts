/** Generates expressions: functions and operators over literals and columns of every kind, the same ones at every run. */

const texts = [
  ...["''", "'abc'", "'ABC'", "'a,b,c'", "'a.b.c'", "'12'", "'-3.7'", "'12abc'", "' x '", "'äöÜ'", "'日本語'", "NULL"],
  ...["'it''s'", "'0'", "'%'"],
];
const numbers = ["0", "1", "-1", "2", "3", "7", "10", "255", "1.5", "-2.25", "0.05", "NULL", "'5'", "'2x'"];
const counts = ["0", "1", "2", "3", "5", "-1", "-2", "100", "NULL"];
const dates = [
  ...["'2024-03-05'", "'2024-02-29 13:45:10'", "'1999-12-31 23:59:59'", "'2024-01-31'", "'0000-00-00'", "'2024-02-30'"],
  ...["'2024-13-01'", "'2024-00-00'", "''", "'abc'", "NULL", "20240305", "'2024-3-5'", "'20240305'", "'2021-01-03'"],
  ...["'2020-12-31 00:00:00'", "'2024-03-05 10:11'", "'2000-02-29'"],
];
const times = [
  "'10:11:12'",
  "'-01:30:00'",
  "'25:00:00'",
  "'00:00:00'",
  "'2024-03-05 10:11:12'",
  "''",
  "NULL",
  "'10:11'",
];
const units = ["SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"];
const compounds: readonly (readonly [string, string])[] = [
  ["'1:30'", "MINUTE_SECOND"],
  ["'2 3'", "DAY_HOUR"],
  ["'1 2:3:4'", "DAY_SECOND"],
  ["'1-2'", "YEAR_MONTH"],
  ["'-5:10'", "HOUR_MINUTE"],
];
const formats = [
  ...[
    "'%Y-%m-%d'",
    "'%d.%m.%y'",
    "'%M %e, %Y'",
    "'%a %b %D'",
    "'%H:%i:%s'",
    "'%l:%i %p'",
    "'%x-%v'",
    "'%X-%V'",
    "'%U %u'",
  ],
  ...["'%j'", "'%T %f'", "'%r'", "'%W %w'", "'%c/%k'", "'100%%'"],
];
const documents = [
  ...[`'{"a":1,"b":"x"}'`, "'[1,2,3]'", `'{"a":{"b":[1,2]}}'`, "'[]'", "'{}'", "'5'", `'"x"'`, "''", "'x'", "NULL"],
];
const paths = ["'$'", "'$.a'", "'$.a.b'", "'$[0]'", "'$[2]'", "'$.z'", "'$.a.b[1]'"];
const textColumns = ["s", "x"];
const numberColumns = ["n", "d", "p"];
const dateColumns = ["dt", "da"];

/** Arguments by letter: text, number, count, date, time, format, document, path; others stand for themselves. */
const kinds = {
  T: [...texts, ...textColumns],
  N: [...numbers, ...numberColumns],
  C: counts,
  D: [...dates, ...dateColumns],
  H: times,
  F: formats,
  J: documents,
  P: paths,
} as const;

/** Results of a kind, each with its arguments. */
const templates = {
  T: [
    ...[
      "UPPER(T)",
      "LOWER(T)",
      "LEFT(T,C)",
      "RIGHT(T,C)",
      "SUBSTRING(T,C)",
      "SUBSTRING(T,C,C)",
      "SUBSTRING_INDEX(T,'.',C)",
    ],
    ...[
      "LPAD(T,C,'*')",
      "RPAD(T,C,'ab')",
      "TRIM(T)",
      "TRIM(BOTH 'a' FROM T)",
      "TRIM(LEADING 'a' FROM T)",
      "REPEAT(T,C)",
    ],
    ...[
      "REVERSE(T)",
      "INSERT(T,C,C,'--')",
      "CONCAT(T,T)",
      "CONCAT_WS('-',T,T)",
      "REPLACE(T,'a','X')",
      "HEX(T)",
      "MD5(T)",
    ],
    ...["IFNULL(T,'none')", "NULLIF(T,'abc')", "COALESCE(T,T)", "IF(N,T,T)", "ELT(C,T,T)", "SPACE(C)", "TO_BASE64(T)"],
    ...[
      "SHA1(T)",
      "SUBSTRING_INDEX(T,',',C)",
      "MAKE_SET(C,'a',T)",
      "SOUNDEX(T)",
      "CAST(T AS CHAR)",
      "CAST(T AS CHAR(2))",
    ],
    ...["CASE WHEN N THEN T ELSE T END", "REGEXP_REPLACE(T,'[a-b]','-')", "LTRIM(T)", "RTRIM(T)", "UNHEX(HEX(T))"],
    ...["CONV(C,10,2)", "BIN(C)", "FORMAT(N,C)", "DATE_FORMAT(D,F)", "TIME_FORMAT(H,F)", "DAYNAME(D)", "MONTHNAME(D)"],
    ...["JSON_EXTRACT(J,P)", "JSON_UNQUOTE(JSON_EXTRACT(J,P))", "JSON_KEYS(J)", "JSON_QUOTE(T)", "JSON_ARRAY(N,'a')"],
    ...["JSON_SET(J,P,1)", "JSON_REMOVE(J,'$.a')", "JSON_OBJECT('k',T)", "JSON_TYPE(J)", "SEC_TO_TIME(C)"],
  ],
  N: [
    ...[
      "CHAR_LENGTH(T)",
      "LENGTH(T)",
      "LOCATE(T,T)",
      "INSTR(T,'b')",
      "FIND_IN_SET(T,'a,b,abc,12')",
      "FIELD(T,'abc','12')",
    ],
    ...[
      "ASCII(T)",
      "STRCMP(T,T)",
      "CRC32(T)",
      "ABS(N)",
      "CEIL(N)",
      "FLOOR(N)",
      "ROUND(N)",
      "ROUND(N,1)",
      "TRUNCATE(N,1)",
    ],
    ...["MOD(N,3)", "SIGN(N)", "POW(N,2)", "SQRT(ABS(N))", "GREATEST(N,2)", "LEAST(N,2)", "CAST(T AS SIGNED)"],
    ...[
      "CAST(N AS DECIMAL(10,2))",
      "CAST(T AS DECIMAL(10,1))",
      "INTERVAL(N,1,5,10)",
      "ISNULL(T)",
      "IFNULL(N,9)",
      "NULLIF(N,1)",
    ],
    ...[
      "YEAR(D)",
      "MONTH(D)",
      "DAY(D)",
      "QUARTER(D)",
      "DAYOFWEEK(D)",
      "WEEKDAY(D)",
      "DAYOFYEAR(D)",
      "WEEK(D)",
      "WEEK(D,1)",
    ],
    ...["WEEK(D,3)", "YEARWEEK(D)", "YEARWEEK(D,1)", "TO_DAYS(D)", "DATEDIFF(D,D)", "TIMESTAMPDIFF(DAY,D,D)"],
    ...["TIMESTAMPDIFF(MONTH,D,D)", "TIMESTAMPDIFF(HOUR,D,D)", "EXTRACT(YEAR_MONTH FROM D)", "EXTRACT(DAY FROM D)"],
    ...[
      "HOUR(H)",
      "MINUTE(H)",
      "SECOND(H)",
      "TIME_TO_SEC(H)",
      "HOUR(D)",
      "PERIOD_ADD(202403,C)",
      "INET_ATON('10.0.0.1')",
    ],
    ...[
      "JSON_LENGTH(J)",
      "JSON_VALID(J)",
      "JSON_CONTAINS(J,'1')",
      "JSON_DEPTH(J)",
      "BIT_COUNT(C)",
      "N IS NULL",
      "N + N",
    ],
    ...[
      "N * 2",
      "N - 1",
      "N > 1",
      "N = 1",
      "T = 'ABC'",
      "T LIKE 'a%'",
      "T IN ('abc','12')",
      "N IN (1,2)",
      "N BETWEEN 0 AND 5",
    ],
    ...["T IS NULL", "NOT N", "D > '2024-01-01'", "N <=> NULL", "T REGEXP 'b'", "C DIV 2", "C & 3"],
  ],
  D: [
    ...["DATE(D)", "LAST_DAY(D)", "DATE_ADD(D, INTERVAL C U)", "DATE_SUB(D, INTERVAL C U)", "D + INTERVAL C U"],
    ...["D - INTERVAL C U", "DATE_ADD(D, INTERVAL X)", "CAST(D AS DATE)", "CAST(D AS DATETIME)", "TIMESTAMP(D)"],
    ...[
      "MAKEDATE(2024,C)",
      "FROM_DAYS(TO_DAYS(D))",
      "STR_TO_DATE(D,'%Y-%m-%d')",
      "TIMESTAMPADD(U,C,D)",
      "ADDDATE(D,C)",
    ],
    ...["CONVERT_TZ(D,'+00:00','+02:00')", "FROM_UNIXTIME(C)", "IFNULL(D,'2000-01-01')"],
  ],
  H: [
    "TIME(D)",
    "TIME(H)",
    "SEC_TO_TIME(C)",
    "ADDTIME(H,'01:00:00')",
    "SUBTIME(H,'00:30:00')",
    "TIMEDIFF(H,'01:00:00')",
    "MAKETIME(C,1,2)",
  ],
} as const;

/** Mulberry32: a random number generator in one expression. Returns a function that returns integers below a limit. */
function generator(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

const isResult = (kind: string): kind is keyof typeof templates => kind in templates;
const isKind = (kind: string): kind is keyof typeof kinds => kind in kinds;
/** Kinds of arguments outside of quotes, and not part of a word. */
const placeholder = /'[^']*'|(?<![\w$])[TNCDHFJPUX](?![\w('])/g;
const columns = new RegExp(
  `(?<![\\w'.$])(?:${[...textColumns, ...numberColumns, ...dateColumns].join("|")})(?![\\w'(])`,
);

/** Generates so many expressions, by a seed. */
export function generateExpressions(count: number, seed: number): readonly string[] {
  const below = generator(seed);
  const pick = <T>(list: readonly T[]): T => {
    const picked = list[below(list.length)];
    if (picked === undefined) throw new Error("There is nothing to pick from.");
    return picked;
  };
  const literalWithin = (text: string): string => text.replaceAll(/'[^']*'/g, "");

  function argument(kind: string, depth: number): string {
    if (kind === "U") return pick(units);
    if (kind === "X") return pick(compounds).join(" ");
    if (isResult(kind) && depth > 0 && below(4) === 0) return result(kind, depth - 1);
    return isKind(kind) ? pick(kinds[kind]) : kind;
  }
  function result(kind: keyof typeof templates, depth: number): string {
    const template: string = pick<string>(templates[kind]);
    return template.replaceAll(placeholder, (found) => (found.startsWith("'") ? found : argument(found, depth)));
  }

  const expressions = new Set<string>();
  while (expressions.size < count) {
    const expression = result(pick(["T", "T", "N", "N", "N", "D", "D", "H"] as const), 2);
    expressions.add(columns.test(literalWithin(expression)) ? `${expression} FROM t` : expression);
  }
  return [...expressions];
}
