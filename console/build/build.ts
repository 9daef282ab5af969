/**
 * `node console/build/build.ts`: builds the console into the folder of the assets, unless it is there. Writes a file with the reason if
 * that fails, because nobody may be watching.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { loadConfig } from "@sitewright/server/settings/config.ts";
import { buildConsole } from "./buildConsole.ts";
import { buildsFolder, consoleVersion, failureOf } from "./version.ts";

process.on("disconnect", () => process.exit(1));
// Everything else that happens at a start is more urgent.
setPriority(19);
const { assets } = loadConfig(process.env);
const failure = failureOf(assets, consoleVersion());
try {
  await buildConsole(assets);
  rmSync(failure, { force: true });
  process.exit(0);
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  mkdirSync(buildsFolder(assets), { recursive: true });
  writeFileSync(failure, reason);
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
