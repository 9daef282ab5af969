/** The serving side of the edge process: one pool of PHP workers for the engines of all runtimes. */

import { withMoves } from "@sitewright/runtimes/movingServing.ts";
import { createNativeEngine } from "@sitewright/runtimes/native/serving.ts";
import { phpVersions } from "@sitewright/runtimes/playground/php/versions.ts";
import { createPlaygroundEngine, type PlaygroundEngineOptions } from "@sitewright/runtimes/playground/serving.ts";
import { combineEngines, type Engine, whenNeeded } from "@sitewright/runtimes/pool/engine.ts";
import type { Member } from "@sitewright/runtimes/pool/member.ts";
import { createPoolServing, type PoolServing } from "@sitewright/runtimes/pool/serving.ts";
import type { RuntimeName } from "@sitewright/runtimes/runtimeNames.ts";
import type { OnStalePages, Serving } from "@sitewright/runtimes/serving.ts";
import type { Logger } from "pino";
import { makeAcceptMail } from "./mail/accept.ts";
import { openSpool } from "./mail/spool.ts";
import type { NativeMachine } from "./nativeMachine.ts";
import { phpNetwork } from "./phpNetwork.ts";
import type { Config } from "./settings/config.ts";

/** The edge's services for the serving side. */
export interface ServingTools extends Pick<PlaygroundEngineOptions, "credentialOf"> {
  readonly edgePort: () => number;
  /** Called with the pages that a change to a site has made stale. */
  readonly onStalePages: OnStalePages;
  /** Called with each line of PHP's error log. */
  readonly onErrorLine: (environmentId: string, line: string) => void;
}

interface Installation {
  readonly config: Config;
  readonly log: Logger;
  /** Null: there are no native environments. */
  readonly machine: NativeMachine | null;
}

export function makeEdgeServing(
  installation: Installation,
  tools: ServingTools,
): Serving & Pick<PoolServing, "status"> {
  const { config, log, machine } = installation;
  const runtimes: readonly RuntimeName[] = machine === null ? ["playground"] : ["playground", "native"];
  const options = {
    ...tools,
    maxWorkers: config.maxWorkers,
    requestDeadlineSeconds: config.requestDeadlineSeconds,
    idleSeconds: config.idleSeconds,
    acceptMail: makeAcceptMail({
      spool: openSpool(config.mailSpool),
      onFailure: (err) => log.error({ err }, "Storing a message from a site failed; PHP got an error"),
    }),
  };
  const pool = createPoolServing(options, (members) => enginesOf(installation, tools, members));
  const moving = withMoves(pool, { runtimes });
  return {
    ...moving,
    setEnvironments: async (environments) => {
      // The rules are for all users of environments, and before their PHP starts.
      await machine?.network.setEnvironments(environments);
      await moving.setEnvironments(environments);
    },
    status: pool.status,
  };
}

type FindMembers = () => readonly Member[];

function enginesOf({ config, log, machine }: Installation, tools: ServingTools, members: FindMembers): Engine {
  const makePlayground = () => playground({ config, log }, tools, members);
  if (machine === null)
    return combineEngines({ playground: makePlayground() } satisfies Partial<Record<RuntimeName, Engine>>);
  const isUsual = config.regions.some(({ runtime }) => runtime === "playground");
  return combineEngines({
    playground: isUsual ? makePlayground() : whenNeeded(makePlayground),
    native: native({ config, log }, machine),
  } satisfies Record<RuntimeName, Engine>);
}

/** Options of every engine. */
function commonOptions(config: Config) {
  return {
    assets: config.assets,
    environments: config.environments,
    diskReserveBytes: config.diskReserveBytes,
    requestDeadlineSeconds: config.requestDeadlineSeconds,
    uploads: config.uploads,
  };
}

function playground({ config, log }: Omit<Installation, "machine">, tools: ServingTools, members: FindMembers): Engine {
  const options = {
    ...commonOptions(config),
    ...phpNetwork(config),
    ...tools,
    preparedWorkers: config.preparedWorkers,
    // Newest first: most sites are switched to the newest version.
    precompilePhpVersions: phpVersions.toReversed(),
    onWarmUpFailure: (err: unknown) =>
      log.error({ err }, "Preparing PHP workers failed; new sites take longer to answer"),
  };
  return createPlaygroundEngine(options, members);
}

function native({ config, log }: Omit<Installation, "machine">, machine: NativeMachine): Engine {
  return createNativeEngine({
    ...commonOptions(config),
    run: machine.run,
    phpOf: machine.phpOf,
    precompilePhpVersion: machine.defaultPhpVersion,
    network: machine.sandboxNetwork,
    packageSource: config.wporgUrl,
    layers: machine.layers,
    onLog: (line) => log.debug(line),
    onFailure: (err) => log.warn({ err }, "Something of a php-fpm that has ended could not be removed"),
    onCompileFailure: (err) => log.error({ err }, "Compiling WordPress in advance failed; native sites wake up slowly"),
  });
}
