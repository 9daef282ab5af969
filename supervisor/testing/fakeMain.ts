/** The supervisor as run by `npm start`, with real PostgreSQL and fake children. */
import { join } from "node:path";
import { takeInheritedSockets } from "@sitewright/server/inheritedSockets.ts";
import { loadConfig } from "@sitewright/server/settings/config.ts";
import { makeInstallation } from "../installation.ts";
import { runUntilStopped } from "../run.ts";
import { findBoundSockets } from "../systemdSockets.ts";
import { makeTerminal } from "../terminal.ts";

const child = join(import.meta.dirname, "fakeChild.ts");
const terminal = makeTerminal({ out: process.stdout, errors: process.stderr });
const installation = makeInstallation({
  config: loadConfig(process.env),
  env: process.env,
  programs: {
    prepare: [child, "prepare"],
    console: [child, "console"],
    control: [child, "control"],
    edge: [child, "edge"],
    dns: [child, "dns"],
  },
  isPrepared: () => process.env.SITEWRIGHT_TEST_PREPARED !== undefined,
  isConsoleBuilt: () => process.env.SITEWRIGHT_TEST_CONSOLE === undefined,
  terminal,
  given: findBoundSockets(takeInheritedSockets(process.env)),
});
await runUntilStopped(installation, terminal);
