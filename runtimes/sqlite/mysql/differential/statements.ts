/** Expressions as statements, and the table that they may select from. */

export const setUp: readonly string[] = [
  `CREATE TABLE t (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, n int, d double, p decimal(10,2), s varchar(100),
    x longtext, dt datetime, da date, j longtext)`,
  `INSERT INTO t (n, d, p, s, x, dt, da, j) VALUES
    (3, 1.5, 10.25, 'Abc', '12', '2024-02-29 13:45:10', '2024-02-29', '{"a":1}'),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (-7, -2.5, -0.05, 'Äpfel, 日本', 'abc', '1999-12-31 23:59:59', '1999-12-31', '[1,2]'),
    (0, 0, 0, '', '', '0000-00-00 00:00:00', '0000-00-00', '')`,
];

/** Returns a statement with one column. Statements are returned as they are. */
export function statementOf(expression: string): string {
  if (expression.startsWith("SELECT")) return expression;
  const [, value, rest] = /^(.*?)( FROM t)?$/s.exec(expression) ?? [];
  return `SELECT ${value}${rest === undefined ? "" : `${rest} ORDER BY id`}`;
}
