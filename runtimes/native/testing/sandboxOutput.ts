/** Runs commands in a sandbox, for tests. */
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { spawnWithFilter } from "../spawnSandboxed.ts";

/** Runs a command of `sandboxed`. Returns its standard output without white space at the ends. Throws if it fails. */
export async function sandboxOutput(command: readonly string[]): Promise<string> {
  const child = spawnWithFilter(command, ["ignore", "pipe"]);
  const ended = once(child, "close");
  const [output, errors] = await Promise.all([child.stdout === null ? "" : text(child.stdout), text(child.stderr)]);
  const [code, signal] = await ended;
  if (code !== 0) throw new Error(`${command[0]} ended with ${code ?? signal}: ${errors}`);
  return output.trim();
}
