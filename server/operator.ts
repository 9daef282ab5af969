/**
 * `npm run --silent operator -- <command>`: commands for the operator of the installation. Standard output contains only the
 * result.
 *
 * Exit codes: 0 success, 1 failure, 2 invalid command or setting.
 */
import { parseArgs } from "node:util";
import type { Arguments, Command } from "./operator/command.ts";
import { findCommand, helpOf, overview } from "./operator/commands.ts";
import { exitFailed, Failure, usageError } from "./operator/failure.ts";

/** Runs the command and resolves with its output. */
async function main(typed: readonly string[]): Promise<string> {
  const names = typed.filter((word) => !word.startsWith("-"));
  const found = findCommand(names);
  if (typed.includes("--help") || typed.includes("-h")) return found === null ? overview(names) : helpOf(found.command);
  if (found === null) {
    const problem = typed.length === 0 ? "No command given." : `There is no command "${typed.join(" ")}".`;
    throw new Failure(`${problem}\n\n${overview(names)}`, usageError);
  }
  const given = readGiven(found.command, typed, names.length - found.rest.length);
  const run = await found.command.load();
  return run(given, await loadContext());
}

/** Parses the arguments; `nameWords` is the number of words in the command's name. Throws `Failure` with the command's help. */
function readGiven(command: Command, typed: readonly string[], nameWords: number): Arguments {
  try {
    const { values, positionals } = parseArgs({
      args: [...typed],
      options: command.options ?? {},
      allowPositionals: true,
    });
    const words = positionals.slice(nameWords);
    const [fewest, most] = command.words;
    if (words.length < fewest) throw new Error("An argument is missing.");
    if (words.length > most) throw new Error(`Unexpected arguments: ${words.slice(most).join(" ")}`);
    const flags = Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? undefined : value]);
    return { words, flags: Object.fromEntries(flags) };
  } catch (cause) {
    const [message = ""] = (cause instanceof Error ? cause.message : String(cause)).split(" To specify");
    throw new Failure(`${message}\n\n${helpOf(command)}`, usageError, { cause });
  }
}

async function loadContext() {
  const { loadConfig } = await import("./settings/config.ts");
  const { readEnvironment } = await import("./sealedSettings.ts");
  const env = readEnvironment(process.env);
  return { config: loadConfig(env), env, terminal: { input: process.stdin, output: process.stderr } };
}

/** A message for the operator, and the exit code. */
async function explain(error: unknown): Promise<{ readonly message: string; readonly exitCode: number }> {
  if (error instanceof Failure) return { message: error.message, exitCode: error.exitCode };
  const { ConfigError, loadConfig } = await import("./settings/config.ts");
  if (error instanceof ConfigError) return { message: error.message, exitCode: usageError };
  const { UnusableFile } = await import("./moving/envelope.ts");
  if (error instanceof UnusableFile) return { message: error.message, exitCode: exitFailed };
  const { readEnvironment } = await import("./sealedSettings.ts");
  const config = loadConfig(readEnvironment(process.env));
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (config.databaseUrl !== null && /^(E[A-Z]+|28\w{3}|3D000)$/.test(code)) {
    const why = error instanceof Error && error.message !== "" ? error.message : code;
    return { message: `The database at DATABASE_URL does not answer: ${why}`, exitCode: exitFailed };
  }
  const { explainStartError } = await import("@sitewright/supervisor/dataFolder.ts");
  return { message: explainStartError(error, config), exitCode: exitFailed };
}

try {
  process.stdout.write(`${await main(process.argv.slice(2))}\n`);
} catch (error) {
  const { message, exitCode } = await explain(error);
  process.stderr.write(`${message}\n`);
  process.exitCode = exitCode;
}
