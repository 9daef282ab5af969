/** Starts a change of an environment's PHP version, and a restart of its PHP. */
import { randomInt } from "node:crypto";
import type { PhpVersionChange } from "@sitewright/contract/sites/tools.ts";
import type { Capabilities } from "@sitewright/runtimes/runtime.ts";
import type { ModifyPhpVersionInput } from "@sitewright/server/operations/sites/modifyPhpVersion.ts";
import type { RestartPhpInput } from "@sitewright/server/operations/sites/restartPhp.ts";
import type { Static } from "typebox";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";
import { addressOf } from "./addresses.ts";
import { environmentInput } from "./environmentInput.ts";
import { requireEnvironment, startOn } from "./environmentOperations.ts";

/** Starts the change of the PHP version. Returns the operation's id. */
export function modifyPhpVersion(context: Context, request: Static<typeof PhpVersionChange>): Promise<string> {
  const version = request.php_version.replace(/^php/, "");
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, request.environment_id);
    requireOffered(context.capabilitiesOf(environment.runtime), version);
    const isOptOut = request.is_opt_out_from_automatic_php_update;
    refuseEnded(context, version, isOptOut ?? environment.is_opt_out_from_automatic_php_update);
    const input: ModifyPhpVersionInput = {
      environment: environmentInput(environment),
      to: version,
      address: addressOf(context.settings, environment),
      isOptOut: isOptOut ?? null,
      onlyFrom: null,
    };
    const names = { phpVersion: version };
    return startOn(context, transaction, environment, {
      kind: "modifyPhpVersion",
      input,
      locks: [environment.id],
      names,
    });
  });
}

/** Starts the restart. Returns the operation's id. */
export function restartPhp(context: Context, environmentId: string): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, environmentId);
    const input: RestartPhpInput = { environmentId: environment.id, run: randomInt(1, 2 ** 31) };
    return startOn(context, transaction, environment, { kind: "restartPhp", input, locks: [environment.id] });
  });
}

function requireOffered({ phpVersions: offered }: Capabilities, version: string): void {
  if (offered.includes(version)) return;
  const message = `PHP ${version} is not available. Available versions: ${offered.join(", ")}.`;
  throw new Refused("unknown_php_version", message, { php_version: version, offered });
}

/** Throws `Refused` if the automatic update would replace the version at once. */
function refuseEnded({ settings }: Context, version: string, isOptOut: boolean): void {
  if (isOptOut || !settings.endedPhpVersions.includes(version)) return;
  throw new Refused(
    "php_version_ended",
    `PHP ${version} has reached its end of life. To use it anyway, set is_opt_out_from_automatic_php_update to true.`,
    { php_version: version },
  );
}
