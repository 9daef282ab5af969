/** The console as tests use it: built once for all of them. */
import { join } from "node:path";
import { buildConsole } from "@sitewright/console/build/buildConsole.ts";
import type { ConsolePaths } from "../consoleFiles.ts";

const assets = join(import.meta.dirname, "../../../.cache/assets");

/** Builds the console, unless these sources have been built. Returns where it is. */
export async function builtConsole(): Promise<ConsolePaths> {
  const folder = await buildConsole(assets);
  return { folder, failure: `${folder}.failed` };
}
