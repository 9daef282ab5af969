/** The database driver with our layer, without a site: one PHP and a scratch database. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
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

/** Paths as PHP sees them. */
interface Paths {
  readonly driver: string;
  /** For the database, statements and translations. */
  readonly scratch: string;
}

const inWebAssembly: Paths = { driver: "/driver", scratch: "/tmp" };
const inputIn = ({ scratch }: Paths) => `${scratch}/statements.json`;
const translationsIn = ({ scratch }: Paths) => `${scratch}/translations`;

const codeFor = (paths: Paths, keepsTranslations: boolean) => `<?php
require '${paths.driver}/wp-includes/database/load.php';
require '${paths.driver}/mysql/load.php';
$driver = new WP_MySQL_Layer\\Driver( 'mysql-on-sqlite:path=${paths.scratch}/scratch.sqlite;dbname=wordpress', null, null, [
	'sqlite_journal_mode' => 'DELETE', PDO::ATTR_STRINGIFY_FETCHES => true ] );
$driver->query( "SET SESSION sql_mode = ''" );
if ( ${keepsTranslations} ) $driver->keep_translations( '${translationsIn(paths)}', '' );
$answers = [];
foreach ( json_decode( file_get_contents( '${inputIn(paths)}' ) ) as $statement ) {
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

/** How a layer's PHP runs its program, and reads and writes its files. */
interface Engine {
  readonly paths: Paths;
  read(file: string): string;
  write(file: string, content: string): void;
  /** Runs PHP. Returns its output; throws if it logs anything. */
  run(code: string): Promise<string>;
}

/** Boots PHP, which takes a second or two: once for a file of tests. `keepsTranslations`: as in the workers of sites. */
export async function openMysqlLayer(phpVersion = templatePhpVersion, options = {}): Promise<MysqlLayer> {
  const driver = await sharedDriver();
  const php = await bootPhp({ version: phpVersion, network: () => null, opcodes: null });
  await mountFolder(php, inWebAssembly.driver, driver, "readOnly");
  const engine: Engine = {
    paths: inWebAssembly,
    read: (file) => php.readFileAsText(file),
    write: (file, content) => php.writeFile(file, content),
    run: async (code) => {
      const response = await php.runStream({ code });
      const [output, errors] = await Promise.all([response.stdoutText, response.stderrText]);
      if (errors !== "") throw new Error(`PHP failed: ${errors}`);
      return output;
    },
  };
  return layerOn(engine, options);
}

/** The same on the machine's own PHP. Its files are removed at the end of the test. */
export async function openNativeMysqlLayer(): Promise<MysqlLayer> {
  const scratch = await mkdtemp(join(tmpdir(), "layer-"));
  onTestFinished(() => rm(scratch, { recursive: true }));
  const file = join(scratch, "run.php");
  const engine: Engine = {
    paths: { driver: await sharedDriver(), scratch },
    read: (name) => readFileSync(name, "utf8"),
    write: (name, content) => writeFileSync(name, content),
    run: async (code) => {
      writeFileSync(file, code);
      const settings = ["display_errors=0", "log_errors=1", "error_log="].flatMap((setting) => ["-d", setting]);
      const { stdout, stderr } = await promisify(execFile)("php", [...settings, file]);
      if (stderr !== "") throw new Error(`PHP failed: ${stderr}`);
      return stdout;
    },
  };
  return layerOn(engine);
}

async function sharedDriver(): Promise<string> {
  const assets = createAssetStore({ folder: sharedAssets });
  await assembleDriver(await assets.prepare(() => undefined), sharedAssets);
  return driverFolder(sharedAssets);
}

function layerOn(engine: Engine, { keepsTranslations = false } = {}): MysqlLayer {
  const code = codeFor(engine.paths, keepsTranslations);
  const translationsFile = translationsIn(engine.paths);

  async function trace(statements: readonly string[]): Promise<readonly Traced[]> {
    engine.write(inputIn(engine.paths), JSON.stringify(statements));
    const output = await engine.run(code);
    if (!output.startsWith("[")) throw new Error(`PHP failed: ${output}`);
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
      read: () => engine.read(translationsFile),
      write: (content) => engine.write(translationsFile, content),
    },
    translated: async (statement) => (await trace([statement])).flatMap(({ queries }) => queries.map(({ sql }) => sql)),
  };
}
