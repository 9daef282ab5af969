/** WP-CLI commands: which are accepted, and how one starts. */
import type { WpCliCommand } from "@sitewright/contract/sites/wpCli.ts";
import type { RunWpCliInput } from "@sitewright/server/operations/sites/runWpCli.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Static } from "typebox";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { environmentInput } from "./environmentInput.ts";
import { nameOf, splitCommand } from "./wpCliCommand.ts";
import { refuseUnsupported } from "./wpCliUnsupported.ts";

type CommandRequest = Static<typeof WpCliCommand>;

/** Starts the command. Returns the operation's id. */
export function run(context: Context, environmentId: string, request: CommandRequest): Promise<string> {
  const argv = argvOf(request);
  refuseUnsupported(argv);
  return context.inTransaction(async (transaction) => {
    const environment = await environmentForOperation(transaction, environmentId);
    if (!environment) throw new NotFound();
    const input: RunWpCliInput = { environment: environmentInput(environment) };
    const { operationId } = await context.acceptOperation(transaction, {
      kind: "runWpCli",
      input,
      secret: JSON.stringify(argv),
      companyId: environment.company_id,
      siteId: environment.site_id,
      environmentId: environment.id,
      locks: [environment.id],
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: {
        command: nameOf(argv),
        environmentName: environment.display_name,
        siteName: environment.site_display_name,
      },
    });
    return operationId;
  });
}

function argvOf({ wp_command: command, argv }: CommandRequest): readonly string[] {
  if ((command === undefined) === (argv === undefined)) {
    throw new Refused("wp_cli_command_unclear", "Send exactly one of wp_command and argv.", {
      fields: ["wp_command", "argv"],
    });
  }
  const words = command === undefined ? (argv ?? []) : (splitCommand(command)?.slice(1) ?? null);
  if (words === null) {
    throw new Refused("wp_cli_command_unclear", "wp_command has an unclosed quote ('). Close it, or send argv.", {
      fields: ["wp_command"],
    });
  }
  if (words[0] === "wp") {
    throw new Refused("wp_cli_command_unclear", "The command begins after wp. Leave the second wp out.", {
      fields: [command === undefined ? "argv" : "wp_command"],
    });
  }
  return words;
}
