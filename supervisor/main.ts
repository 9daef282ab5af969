/** Entry point of `npm start`. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildOf, consoleVersion } from "@sitewright/console/build/version.ts";
import { dnsNodeOptions } from "@sitewright/dns/nodeOptions.ts";
import { isPrepared } from "@sitewright/runtimes/playground/prepared.ts";
import { takeInheritedSockets } from "@sitewright/server/inheritedSockets.ts";
import { readEnvironment } from "@sitewright/server/sealedSettings.ts";
import { ConfigError, loadConfig } from "@sitewright/server/settings/config.ts";
import { makeInstallation } from "./installation.ts";
import { withPreviousAddresses } from "./previousAddresses.ts";
import { runUntilStopped } from "./run.ts";
import { findBoundSockets } from "./systemdSockets.ts";
import { makeTerminal } from "./terminal.ts";

const invalidSettings = 2;

/** An option of V8 for many short requests: collecting so little memory takes several threads longer than one. */
const oneCollector = "--no-parallel-scavenge";
const controlMemory = [
  // Megabytes; the default is 16. With 8, thousands of waiting clients take a quarter less memory.
  "--max-semi-space-size=8",
  oneCollector,
  // V8 would decide in a busy moment that requests' objects live long, and then make all of them in the old generation: a read takes
  // up to half as much time again, for as long as the process lives.
  "--no-allocation-site-pretenuring",
] as const;

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = file("../server/main.ts");
const terminal = makeTerminal({ out: process.stdout, errors: process.stderr });
try {
  const given = findBoundSockets(takeInheritedSockets(process.env));
  const env = withPreviousAddresses(readEnvironment(process.env));
  const config = loadConfig(env);
  const installation = makeInstallation({
    config,
    env,
    programs: {
      prepare: [file("prepare.ts")],
      console: [file("../console/build/build.ts")],
      control: ["--expose-gc", ...controlMemory, server, "control"],
      edge: [oneCollector, server, "edge"],
      dns: [...dnsNodeOptions, server, "dns"],
    },
    isPrepared: () => isPrepared(config.assets),
    isConsoleBuilt: () => existsSync(buildOf(config.assets, consoleVersion())),
    terminal,
    given,
  });
  await runUntilStopped(installation, terminal);
} catch (error) {
  if (!(error instanceof ConfigError)) {
    throw error;
  }
  terminal.warn(error.message);
  process.exit(invalidSettings);
}
