/** The few WP-CLI commands that the demo understands. */
import type { WpCliResult } from "@sitewright/contract/operationResults.ts";
import type { DemoEnvironment } from "../world/world.ts";

function table(environment: DemoEnvironment, type: "plugin" | "theme"): string {
  const rows = environment.packages
    .filter((one) => one.type === type)
    .map(({ name, isActive, newest, version }) =>
      [name, isActive ? "active" : "inactive", newest === undefined ? "none" : "available", version].join("\t"),
    );
  return ["name\tstatus\tupdate\tversion", ...rows, ""].join("\n");
}

function outputOf(environment: DemoEnvironment, command: string): string | null {
  switch (command.trim().replace(/^wp /, "").split(/ --/, 1)[0]) {
    case "core version":
      return `${environment.wordpress}\n`;
    case "plugin list":
      return table(environment, "plugin");
    case "theme list":
      return table(environment, "theme");
    case "option get home":
      return `https://${environment.domains.find(({ id }) => id === environment.primaryDomainId)?.name}\n`;
    default:
      return null;
  }
}

/** The output of the command. */
export function printedBy(environment: DemoEnvironment, command: string): WpCliResult {
  const output = outputOf(environment, command);
  const known = "core version, plugin list, theme list, option get home";
  const [stdout, stderr] = [output ?? "", output === null ? `The demo only knows these commands: ${known}.\n` : ""];
  return {
    ...{ stdout, stderr },
    exit_code: output === null ? 1 : 0,
    ended_by: "itself",
    stdout_bytes: new TextEncoder().encode(stdout).length,
    stderr_bytes: new TextEncoder().encode(stderr).length,
    stdout_truncated: false,
    stderr_truncated: false,
  };
}
