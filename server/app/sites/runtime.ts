/** The runtime of an environment: which it has, and how it moves to another one. */
import type { RuntimeChange } from "@sitewright/contract/sites/runtime.ts";
import type { ChangeRuntimeInput } from "@sitewright/server/operations/sites/changeRuntime.ts";
import type { EnvironmentFacts } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Static } from "typebox";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";
import { addressOf } from "./addresses.ts";
import { environmentInput } from "./environmentInput.ts";
import { requireEnvironment, startOn } from "./environmentOperations.ts";

export async function get(context: Context, environmentId: string) {
  const { id, runtime, php_version } = await requireEnvironment(context.database, environmentId);
  const available_runtimes = context.runtimes.map((name) => ({
    runtime: name,
    php_versions: [...context.capabilitiesOf(name).phpVersions],
  }));
  return { id, runtime, php_version, available_runtimes };
}

/**
 * Starts the move. Returns the operation's id. Throws `Refused` if the installation lacks the runtime, or the runtime lacks the PHP
 * version.
 */
export function change(
  context: Context,
  environmentId: string,
  { runtime, php_version }: Static<typeof RuntimeChange>,
): Promise<string> {
  requireRuntime(context, runtime);
  const version = php_version?.replace(/^php/, "") ?? null;
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, environmentId);
    const phpVersion = version ?? environment.php_version;
    requireOfferedBy(context, runtime, phpVersion);
    if (version !== null) refuseEnded(context, version, environment);
    const input: ChangeRuntimeInput = {
      environment: environmentInput(environment),
      runtime,
      phpVersion: version,
      address: addressOf(context.settings, environment),
    };
    const names = { runtime, phpVersion };
    return startOn(context, transaction, environment, {
      kind: "changeRuntime",
      input,
      locks: [environment.id],
      names,
    });
  });
}

function requireRuntime({ runtimes }: Context, runtime: string): void {
  if (runtimes.includes(runtime)) return;
  const message = `This installation has no runtime "${runtime}". Available runtimes: ${runtimes.join(", ")}.`;
  throw new Refused("unknown_runtime", message, { runtime, offered: [...runtimes] });
}

function requireOfferedBy({ capabilitiesOf }: Context, runtime: string, version: string): void {
  const { phpVersions: offered } = capabilitiesOf(runtime);
  if (offered.includes(version)) return;
  const message = `The runtime ${runtime} does not have PHP ${version}. Send one of its versions as php_version: ${offered.join(", ")}.`;
  throw new Refused("unknown_php_version", message, { php_version: version, offered });
}

/** Throws `Refused` if the automatic update would replace the version at once. */
function refuseEnded(
  { settings }: Context,
  version: string,
  { is_opt_out_from_automatic_php_update }: EnvironmentFacts,
): void {
  if (is_opt_out_from_automatic_php_update || !settings.endedPhpVersions.includes(version)) return;
  throw new Refused(
    "php_version_ended",
    `PHP ${version} has reached its end of life. Choose a newer one, or opt out of automatic PHP updates first, with PUT /sites/tools/modify-php-version.`,
    { php_version: version },
  );
}
