/** Compares the layer's answers with a real MariaDB's. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type MariaDb, startMariaDb } from "../../../playground/testing/mariadb.ts";
import { type Answer, openMysqlLayer } from "../../../playground/testing/mysqlLayer.ts";
import { differences, type Rows } from "./differences.ts";
import * as expressions from "./expressions.ts";
import { generateExpressions } from "./grammar.ts";
import { setUp, statementOf } from "./statements.ts";

const generated = 4000;
const seed = 28;
const statements = [...Object.values(expressions).flat(), ...generateExpressions(generated, seed)].map(statementOf);

interface Compared {
  readonly statement: string;
  readonly mariaDb: Rows;
  readonly layer: Rows;
}

let maria: MariaDb;
let different: readonly Compared[];
beforeAll(async () => {
  maria = await startMariaDb();
  const [layer, mariaDb] = await Promise.all([layerRows(), maria.runEach("compared", [...setUp, ...statements])]);
  different = statements
    .map((statement, at) => ({
      statement,
      mariaDb: mariaDb[setUp.length + at] ?? null,
      layer: layer[setUp.length + at] ?? null,
    }))
    .filter((each) => JSON.stringify(each.mariaDb) !== JSON.stringify(each.layer));
});
afterAll(() => maria?.[Symbol.asyncDispose]());

async function layerRows(): Promise<readonly Rows[]> {
  const layer = await openMysqlLayer();
  return (await layer.run(...setUp, ...statements)).map(rowsOf);
}

function rowsOf(answer: Answer): Rows {
  return "error" in answer ? null : answer.rows.map((row) => Object.values(row));
}

/** The pairs of values that differ. An error, or another number of rows, differs as a whole. */
function pairs({ mariaDb, layer }: Compared): readonly (readonly [string | null, string | null])[] {
  if (mariaDb === null || layer === null || mariaDb.length !== layer.length) return [[null, null]];
  return mariaDb.flatMap((row, at) =>
    row
      .map((value, column) => [value, layer[at]?.[column] ?? null] as const)
      .filter(([expected, answer]) => expected !== answer),
  );
}

/** Which entries of the list explain a difference: together, they must explain each value. */
function explaining(compared: Compared): readonly number[] {
  const whole =
    compared.mariaDb === null || compared.layer === null || compared.mariaDb.length !== compared.layer.length;
  const candidates = [...differences.entries()].filter(
    ([, { where, when }]) => where.test(compared.statement) && !(whole && when !== undefined),
  );
  const found = pairs(compared).map(([expected, answer]) =>
    candidates.find(([, { when }]) => when === undefined || when(expected, answer)),
  );
  return found.flatMap((each) => (each === undefined ? [-1] : [each[0]]));
}

test("the layer answers as MariaDB does, but for the differences on the list", () => {
  const unexplained = different.filter((each) => explaining(each).includes(-1));
  expect(unexplained.slice(0, 50)).toEqual([]);
});

test("each difference on the list is one", () => {
  const seen = new Set(different.flatMap(explaining));
  expect(differences.filter((_, at) => !seen.has(at)).map(({ where, reason }) => `${where}: ${reason}`)).toEqual([]);
});
