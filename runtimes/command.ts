/** Runs programs of the system without blocking this process meanwhile. */
import type { CommandStart } from "./starter/orders.ts";
import { startCommand } from "./starter/starter.ts";

/** The program could not be started, was killed, or has an exit code other than 0. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  /** The exit code. Null if the program was killed; a text if it could not be started or wrote too much. */
  readonly code: string | number | null;
  readonly stderr: string;
  constructor(message: string, code: string | number | null, stderr: string) {
    super(message);
    this.code = code;
    this.stderr = stderr;
  }
}

/** Runs a program with messages in English, and returns its output. Rejects with `CommandFailed`. */
export async function runCommand(
  program: string,
  parameters: readonly string[],
  options: Pick<CommandStart, "cwd" | "maxBuffer"> = {},
): Promise<string> {
  const { stdout, stderr, failure } = await startCommand({ program, parameters, ...options });
  if (failure !== null) throw new CommandFailed(failure.message, failure.code, stderr);
  return stdout;
}
