/** The database driver with our layer, without a site: one PHP instance and a scratch database. */

import { createAssetStore } from "../../assets/store.ts";
import { assembleDriver, driverFolder } from "../../sqlite/driver.ts";
import { bootPhp } from "../php/boot.ts";
import { mountFolder } from "../php/mounts.ts";
import { templatePhpVersion } from "../templates/template.ts";
import { sharedAssets } from "./world.ts";

/** A statement's rows, with values as texts as WordPress gets them, or its error. */
export type Answer =
  | { readonly rows: readonly Readonly<Record<string, string | null>>[]; readonly affected: number }
  | { readonly error: string };

export interface MysqlLayer {
  /** Runs statements one after the other on a new connection. The database stays until `close`. */
  run(...statements: readonly string[]): Promise<readonly Answer[]>;
  /** Runs statements that must not fail. Returns the rows of the last one. */
  rows(...statements: readonly string[]): Promise<readonly Readonly<Record<string, string | null>>[]>;
  /** Returns the value of an expression. Throws its error. */
  value(expression: string): Promise<string | null>;
  /** Returns what SQLite gets for a statement. */
  translated(statement: string): Promise<readonly string[]>;
  /** The file with translations for later connections. */
  readonly translations: { read(): string; write(content: string): void };
}

const driverPath = "/driver";
const inputFile = "/tmp/statements.json";
const translationsFile = "/tmp/translations";

const codeFor = (keepsTranslations: boolean) => `<?php
require '${driverPath}/wp-includes/database/load.php';
require '${driverPath}/mysql/load.php';
$driver = new WP_MySQL_Layer\\Driver( 'mysql-on-sqlite:path=/tmp/scratch.sqlite;dbname=wordpress', null, null, [
	'sqlite_journal_mode' => 'DELETE', PDO::ATTR_STRINGIFY_FETCHES => true ] );
$driver->query( "SET SESSION sql_mode = ''" );
if ( ${keepsTranslations} ) $driver->keep_translations( '${translationsFile}', '' );
$answers = [];
foreach ( json_decode( file_get_contents( '${inputFile}' ) ) as $statement ) {
	try {
		$result = $driver->query( $statement, PDO::FETCH_ASSOC );
		$rows = $result->columnCount() > 0 ? $result->fetchAll() : [];
		$answers[] = [ 'rows' => $rows, 'affected' => $result->rowCount(), 'queries' => $driver->get_last_sqlite_queries() ];
	} catch ( Throwable $error ) {
		$answers[] = [ 'error' => $error->getMessage(), 'queries' => $driver->get_last_sqlite_queries() ];
	}
}
echo json_encode( $answers, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE );
`;

type Traced = Answer & { readonly queries: readonly { readonly sql: string }[] };

/** Boots PHP, which takes a second or two: once for a file of tests. `keepsTranslations`: as in the workers of sites. */
export async function openMysqlLayer(
  phpVersion = templatePhpVersion,
  { keepsTranslations = false } = {},
): Promise<MysqlLayer> {
  const code = codeFor(keepsTranslations);
  const assets = createAssetStore({ folder: sharedAssets });
  await assembleDriver(await assets.prepare(() => undefined), sharedAssets);
  const php = await bootPhp({ version: phpVersion, network: () => null, opcodes: null });
  await mountFolder(php, driverPath, driverFolder(sharedAssets), "readOnly");

  async function trace(statements: readonly string[]): Promise<readonly Traced[]> {
    php.writeFile(inputFile, JSON.stringify(statements));
    const response = await php.runStream({ code });
    const [output, errors] = await Promise.all([response.stdoutText, response.stderrText]);
    if (!output.startsWith("[") || errors !== "") throw new Error(`PHP failed: ${output} ${errors}`);
    return JSON.parse(output);
  }

  async function run(...statements: readonly string[]): Promise<readonly Answer[]> {
    const answers = await trace(statements);
    return answers.map((answer) =>
      "error" in answer ? { error: answer.error } : { rows: answer.rows, affected: answer.affected },
    );
  }

  async function rows(...statements: readonly string[]) {
    const answers = await run(...statements);
    for (const [index, answer] of answers.entries()) {
      if ("error" in answer) throw new Error(`${statements[index]}: ${answer.error}`);
    }
    const last = answers.at(-1);
    return last !== undefined && "rows" in last ? last.rows : [];
  }

  return {
    run,
    rows,
    value: async (expression) => (await rows(`SELECT ${expression} AS v`))[0]?.v ?? null,
    translations: {
      read: () => php.readFileAsText(translationsFile),
      write: (content) => php.writeFile(translationsFile, content),
    },
    translated: async (statement) => (await trace([statement])).flatMap(({ queries }) => queries.map(({ sql }) => sql)),
  };
}
