/** What is done to an environment as a whole: another PHP version, fresh PHP processes. */
import { randomInt } from "node:crypto";
import type { PhpVersionChange } from "@sitewright/contract/sites/tools.ts";
import type { ModifyPhpVersionInput } from "@sitewright/server/operations/sites/modifyPhpVersion.ts";
import type { RestartPhpInput } from "@sitewright/server/operations/sites/restartPhp.ts";
import type { Static } from "typebox";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";
import { addressOf } from "./addresses.ts";
import { requireEnvironment, startOn } from "./environmentOperations.ts";

/** Starts the change of version. Returns the operation's id. */
export function modifyPhpVersion(context: Context, wish: Static<typeof PhpVersionChange>): Promise<string> {
  const version = wish.php_version.replace(/^php/, "");
  requireOffered(context, version);
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, wish.environment_id);
    const isOptOut = wish.is_opt_out_from_automatic_php_update;
    refuseEnded(context, version, isOptOut ?? environment.is_opt_out_from_automatic_php_update);
    const input: ModifyPhpVersionInput = {
      environment: { id: environment.id, number: environment.number },
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

function requireOffered({ capabilities }: Context, version: string): void {
  if (capabilities.phpVersions.includes(version)) return;
  throw new Refused(
    "unknown_php_version",
    `PHP ${version} is not offered here; offered: ${capabilities.phpVersions.join(", ")}.`,
    { php_version: version, offered: capabilities.phpVersions },
  );
}

/** It would be moved off again at once. */
function refuseEnded({ settings }: Context, version: string, isOptOut: boolean): void {
  if (isOptOut || !settings.endedPhpVersions.includes(version)) return;
  throw new Refused(
    "php_version_ended",
    `PHP ${version} has come to its end. To have it all the same, send is_opt_out_from_automatic_php_update as true.`,
    { php_version: version },
  );
}
