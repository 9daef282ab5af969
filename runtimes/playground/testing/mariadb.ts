/** Starts a MariaDB for a test: in a temporary folder, on a socket only. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Values as strings, and null for NULL. */
type Rows = readonly (readonly (string | null)[])[];

export interface MariaDb extends AsyncDisposable {
  /** Imports a dump into a new database, with the standard client. Rejects with the client's error output. */
  import(file: string, database: string): Promise<void>;
  /** Returns rows of strings, and null for NULL. */
  query(database: string, sql: string): Promise<Rows>;
  /** Runs statements on one connection to a new database. Returns the rows of each, or null if it fails. */
  runEach(database: string, statements: readonly string[]): Promise<readonly (Rows | null)[]>;
  /** Returns a database's dump by the standard program. */
  dump(database: string, options?: readonly string[]): Promise<string>;
}

/** Root must name the user that the server runs as. */
const user = `--user=${userInfo().username}`;
/** Debian installs servers in `/usr/sbin`, which is not in every user's PATH. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

interface Outputs {
  readonly output: string;
  readonly errors: string;
}

const plain = ["--batch", "--skip-column-names"];
const escapes: Readonly<Record<string, string>> = { "\\n": "\n", "\\t": "\t", "\\0": "\0", "\\\\": "\\" };

/** Reads rows of the standard client. */
function rowsOf(output: string): Rows {
  const lines = output.split("\n").slice(0, -1);
  return lines.map((line) => line.split("\t").map((value) => (value === "NULL" ? null : unescaped(value))));
}

function unescaped(value: string): string {
  return value.replaceAll(/\\[nt0\\]/g, (found) => escapes[found] ?? found);
}

/** Printed before the rows of each statement. */
const mark = "statement-";
const markLine = /^statement-\d+\n/m;

/** The client reports errors by line. */
function oneLine(statement: string): string {
  return statement.replaceAll(/\s*\n\s*/g, " ");
}

export async function startMariaDb(): Promise<MariaDb> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), "maria-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const [data, socket] = [path.join(folder, "data"), path.join(folder, "sock")];
  const common = ["--no-defaults", `--datadir=${data}`, user];
  await run("mariadb-install-db", [...common, "--auth-root-authentication-method=normal", "--skip-test-db"], { env });
  const server = spawn(
    "mariadbd",
    [
      ...common,
      `--socket=${socket}`,
      "--skip-networking",
      "--innodb-flush-log-at-trx-commit=0",
      "--skip-log-bin",
      "--default-time-zone=+00:00",
    ],
    { stdio: ["ignore", "ignore", "pipe"], env },
  );
  const ended = once(server, "exit");
  stack.defer(async () => {
    server.kill("SIGTERM");
    await ended;
  });
  await untilReady(createInterface(server.stderr));
  // Its further output must not fill the pipe.
  server.stderr.resume();

  /** Rejects with the client's errors, unless `--force` makes it continue after an error. */
  async function client(input: Readable | string, parameters: readonly string[]): Promise<Outputs> {
    const all = [
      "--no-defaults",
      `--socket=${socket}`,
      "--user=root",
      "--default-character-set=utf8mb4",
      ...parameters,
    ];
    const child = spawn("mariadb", all, { stdio: "pipe" });
    const finished = Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    // If the client stops early, its error output has the reason.
    await pipeline(Readable.from(input), child.stdin).catch(() => undefined);
    const [output, errors, [code]] = await finished;
    if (code !== 0 && !parameters.includes("--force")) throw new Error(errors);
    return { output, errors };
  }

  const owned = stack.move();
  return {
    import: async (file, database) => {
      await client(`CREATE DATABASE ${database}`, []);
      await client(createReadStream(file), [database]);
    },
    dump: async (database, options = []) => {
      const session = ["--no-defaults", `--socket=${socket}`, "--user=root", "--default-character-set=utf8mb4"];
      const { stdout } = await run("mariadb-dump", [...session, ...options, database], { maxBuffer: 1 << 28 });
      return stdout;
    },
    query: async (database, sql) => rowsOf((await client(sql, [...plain, database])).output),
    runEach: async (database, statements) => {
      await client(`CREATE DATABASE ${database} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci`, []);
      const lines = statements.flatMap((statement, at) => [`SELECT '${mark}${at}';`, `${oneLine(statement)};`]);
      const session = "SET NAMES utf8mb4 COLLATE utf8mb4_unicode_520_ci, sql_mode = '';";
      const { output, errors } = await client([session, ...lines].join("\n"), ["--force", ...plain, database]);
      const parts = output.split(markLine);
      return statements.map((_, at) =>
        errors.includes(`at line ${2 * at + 3}:`) ? null : rowsOf(parts[at + 1] ?? ""),
      );
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function untilReady(lines: AsyncIterable<string>): Promise<void> {
  const output: string[] = [];
  for await (const line of lines) {
    if (line.includes("ready for connections")) return;
    output.push(line);
  }
  throw new Error(`MariaDB did not start: ${output.join("\n")}`);
}
