/** The fake's WP-CLI: logs its commands, and ends as the command says. */
import { appendFile, readFile } from "node:fs/promises";
import path from "node:path";
import { partOf, type Release } from "../releases.ts";
import type { WpCliCommand, WpCliOutcome, WpCliText } from "../runtime.ts";

const fileName = "wp-cli.log";

function textOf(text: string): WpCliText {
  return { text, bytes: Buffer.byteLength(text), isTruncated: false };
}

/** `exit 3 …` exits with 3, all other commands with 0. `share` prints the limits of the command. `get` and `list` only read. */
export async function runFakeWpCli(release: Release, { argv, ...command }: WpCliCommand): Promise<WpCliOutcome> {
  await appendFile(path.join(await partOf(release, "public"), fileName), `${JSON.stringify(argv)}\n`);
  const exitCode = argv[0] === "exit" ? Number(argv[1]) : 0;
  const stderr = exitCode === 0 ? "" : `Error: This was meant to end with ${exitCode}.\n`;
  const printed = argv[0] === "share" ? JSON.stringify(command) : argv.join(" ");
  const mayHaveChanged = argv[1] !== "get" && argv[1] !== "list";
  return { stdout: textOf(`${printed}\n`), stderr: textOf(stderr), exitCode, end: "itself", mayHaveChanged };
}

/** Returns the commands that were started in this web root, in order. */
export async function readFakeCommands(webRoot: string): Promise<readonly (readonly string[])[]> {
  const text = await readFile(path.join(webRoot, fileName), "utf8").catch(() => "");
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line): unknown => JSON.parse(line)).map((words) => (Array.isArray(words) ? words.map(String) : []));
}
