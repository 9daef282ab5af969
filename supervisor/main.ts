/** Entry point of `npm start`. */
import { fileURLToPath } from "node:url";
import { dnsNodeOptions } from "@sitewright/dns/nodeOptions.ts";
import { isPrepared } from "@sitewright/runtimes/playground/prepared.ts";
import { readEnvironment } from "@sitewright/server/sealedSettings.ts";
import { ConfigError, loadConfig } from "@sitewright/server/settings/config.ts";
import { makeInstallation } from "./installation.ts";
import { withPreviousAddresses } from "./previousAddresses.ts";
import { runUntilStopped } from "./run.ts";
import { makeTerminal } from "./terminal.ts";

const invalidSettings = 2;

/**
 * V8's young generation grows to twice this by default. Thousands of clients that wait cost a quarter less memory with it, and
 * reads take as long. Megabytes.
 */
const controlYoungGeneration = "--max-semi-space-size=8";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = file("../server/main.ts");
const terminal = makeTerminal({ out: process.stdout, errors: process.stderr });
try {
  const env = withPreviousAddresses(readEnvironment(process.env));
  const config = loadConfig(env);
  const installation = makeInstallation({
    config,
    env,
    programs: {
      prepare: [file("prepare.ts")],
      control: ["--expose-gc", controlYoungGeneration, server, "control"],
      edge: [server, "edge"],
      dns: [...dnsNodeOptions, server, "dns"],
    },
    isPrepared: () => isPrepared(config.assets),
    terminal,
  });
  await runUntilStopped(installation, terminal);
} catch (error) {
  if (!(error instanceof ConfigError)) {
    throw error;
  }
  terminal.warn(error.message);
  process.exit(invalidSettings);
}
