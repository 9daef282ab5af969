/** The shell commands in a document, and a bash session that runs them as if a user pasted them. */
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/**
 * The `sh` blocks of a Markdown document, in order. Blocks directly below a comment such as
 * `<!-- not tested: needs the internet -->` are left out.
 */
export function shellBlocksIn(markdown: string): readonly string[] {
  const blocks = markdown.matchAll(/^(<!-- not tested: [^\n]+ -->\n)?```sh\n(.*?)^```$/gms);
  return [...blocks].flatMap(([, marker, commands = ""]) => (marker === undefined ? [commands] : []));
}

export interface Pasted {
  /** Commands that failed or did not end in time, each with the lines printed before. */
  readonly failures: readonly string[];
  /** Requests of curl with an error status: status, method and URL, and the response if curl printed it. */
  readonly refusals: readonly string[];
}

/** With `set -E`, the trap also reports failures inside functions. */
const preamble = `exec 2>&1; set -E; trap 'echo "failed: $BASH_COMMAND" >&2' ERR\n`;
const end = "every command has run";
const curlSettings = 'write-out = "%{stderr}HTTP %{http_code} %{method} %{url}\\n"\n';
const maxMilliseconds = 400_000;

/** Pastes all blocks at once into bash in this folder, which also gets settings for curl. */
export async function paste(
  blocks: readonly string[],
  { folder, env }: Readonly<{ folder: string; env: Readonly<Record<string, string>> }>,
): Promise<Pasted> {
  await writeFile(join(folder, ".curlrc"), curlSettings);
  const bash = spawn("bash", {
    cwd: folder,
    env: { ...process.env, ...env, CURL_HOME: folder },
    stdio: ["pipe", "pipe", "ignore"],
    timeout: maxMilliseconds,
  });
  bash.stdin.on("error", () => undefined).end(`${preamble}${blocks.join("")}echo ${end}\n`);
  const printed = await text(bash.stdout);
  const lastLines = printed.split("\n").slice(-10).join("\n");
  return {
    failures: [
      ...(printed.match(/(?:.*\n){0,5}^failed: .*/gm) ?? []),
      ...(printed.endsWith(`${end}\n`) ? [] : [`not finished: ${lastLines}`]),
    ],
    refusals: printed.match(/^HTTP [045].*\n.*/gm) ?? [],
  };
}
