/** What is done to an environment as a whole: another PHP version, fresh PHP processes. */
import { randomInt } from "node:crypto";
import type { PhpVersionChange } from "@sitewright/contract/tools.ts";
import type { ModifyPhpVersionInput } from "@sitewright/server/operations/modifyPhpVersion.ts";
import type { RestartPhpInput } from "@sitewright/server/operations/restartPhp.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { type EnvironmentFacts, environmentForOperation } from "@sitewright/server/store/environmentStates.ts";
import type { Static } from "typebox";
import { addressOf } from "./addresses.ts";
import type { Context } from "./context.ts";
import { NotFound, Refused } from "./failures.ts";

/** Starts the change of version. Gives the operation's id. */
export function modifyPhpVersion(context: Context, wish: Static<typeof PhpVersionChange>): Promise<string> {
  const version = wish.php_version.replace(/^php/, "");
  requireOffered(context, version);
  return context.inTransaction(async (transaction) => {
    const environment = await find(transaction, wish.environment_id);
    const isOptOut = wish.is_opt_out_from_automatic_php_update;
    refuseEnded(context, version, isOptOut ?? environment.is_opt_out_from_automatic_php_update);
    const input: ModifyPhpVersionInput = {
      environment: { id: environment.id, number: environment.number },
      to: version,
      address: addressOf(context.settings, environment),
      isOptOut: isOptOut ?? null,
      onlyFrom: null,
    };
    return start(context, transaction, environment, { kind: "modifyPhpVersion", input, more: { phpVersion: version } });
  });
}

/** Starts the restart. Gives the operation's id. */
export function restartPhp(context: Context, environmentId: string): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const environment = await find(transaction, environmentId);
    const input: RestartPhpInput = { environmentId: environment.id, run: randomInt(1, 2 ** 31) };
    return start(context, transaction, environment, { kind: "restartPhp", input, more: {} });
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

async function find(transaction: DatabaseTransaction, environmentId: string): Promise<EnvironmentFacts> {
  const environment = await environmentForOperation(transaction, environmentId);
  if (!environment) throw new NotFound();
  return environment;
}

interface Tool {
  readonly kind: "modifyPhpVersion" | "restartPhp";
  readonly input: ModifyPhpVersionInput | RestartPhpInput;
  readonly more: Readonly<Record<string, string>>;
}

async function start(
  context: Context,
  transaction: DatabaseTransaction,
  environment: EnvironmentFacts,
  { kind, input, more }: Tool,
): Promise<string> {
  const { operationId } = await context.acceptOperation(transaction, {
    kind,
    input,
    companyId: environment.company_id,
    siteId: environment.site_id,
    environmentId: environment.id,
    locks: [environment.id],
    whenBusy: context.whenBusy,
    actor: context.actor,
    activityParameters: {
      environmentName: environment.display_name,
      siteName: environment.site_display_name,
      ...more,
    },
  });
  return operationId;
}
