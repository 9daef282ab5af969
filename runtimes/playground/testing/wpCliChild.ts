/** A process that runs a WP-CLI command, for tests that kill it meanwhile. Sends `begins` just before. */
import type { EnvironmentRef } from "../../runtime.ts";
import { createPlaygroundRuntime, type PlaygroundRuntimeOptions } from "../runtime.ts";

export interface WpCliCall {
  readonly options: PlaygroundRuntimeOptions;
  readonly environment: EnvironmentRef;
  readonly argv: readonly string[];
}

process.once("message", async ({ options, environment, argv }: WpCliCall) => {
  const command = { phpVersion: "8.3", argv, seconds: 120 };
  const begin = async () => void process.send?.("begins");
  await createPlaygroundRuntime(options).runWpCli(environment, command, begin, new AbortController().signal);
});
