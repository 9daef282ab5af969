/** Runs one command of the operator, as it was typed. */
import { parseArgs } from "node:util";
import type { Arguments, Command, CommandContext, Found } from "./command.ts";
import { findCommand, helpOf, overview } from "./commands.ts";
import { exitFailed, Failure, usageError } from "./failure.ts";

/** What a process of this command prints and returns. */
export interface Ended {
  readonly output: string;
  readonly errors: string;
  readonly exitCode: number;
}

/** `env` has the settings. Never rejects for what a command may fail with. */
export async function runCommand(
  typed: readonly string[],
  { env, terminal }: Pick<CommandContext, "env" | "terminal">,
): Promise<Ended> {
  try {
    const { text, exitCode } = found(await run(typed, { env, terminal }));
    return { output: `${text}\n`, errors: "", exitCode };
  } catch (error) {
    const { message, exitCode } = await explain(error, env);
    return { output: "", errors: `${message}\n`, exitCode };
  }
}

const found = (result: string | Found): Found => (typeof result === "string" ? { text: result, exitCode: 0 } : result);

async function run(
  typed: readonly string[],
  { env, terminal }: Pick<CommandContext, "env" | "terminal">,
): Promise<string | Found> {
  const names = typed.filter((word) => !word.startsWith("-"));
  const known = findCommand(names);
  if (typed.includes("--help") || typed.includes("-h")) return known === null ? overview(names) : helpOf(known.command);
  if (known === null) {
    const problem = typed.length === 0 ? "No command given." : `There is no command "${typed.join(" ")}".`;
    throw new Failure(`${problem}\n\n${overview(names)}`, usageError);
  }
  const given = readGiven(known.command, typed, names.length - known.rest.length);
  const command = await known.command.load();
  const { loadConfig } = await import("../settings/config.ts");
  const { readEnvironment } = await import("../sealedSettings.ts");
  const own = readEnvironment(env);
  return command(given, { config: loadConfig(own), env: own, terminal });
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

/** A message for the operator, and the exit code. */
async function explain(
  error: unknown,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly message: string; readonly exitCode: number }> {
  if (error instanceof Failure) return { message: error.message, exitCode: error.exitCode };
  const { ConfigError, loadConfig } = await import("../settings/config.ts");
  if (error instanceof ConfigError) return { message: error.message, exitCode: usageError };
  const { UnusableFile } = await import("../moving/envelope.ts");
  if (error instanceof UnusableFile) return { message: error.message, exitCode: exitFailed };
  const { readEnvironment } = await import("../sealedSettings.ts");
  const config = loadConfig(readEnvironment(env));
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (config.databaseUrl !== null && /^(E[A-Z]+|28\w{3}|3D000)$/.test(code)) {
    const why = error instanceof Error && error.message !== "" ? error.message : code;
    return { message: `The database at DATABASE_URL does not answer: ${why}`, exitCode: exitFailed };
  }
  const { explainStartError } = await import("@sitewright/supervisor/dataFolder.ts");
  return { message: explainStartError(error, config), exitCode: exitFailed };
}
