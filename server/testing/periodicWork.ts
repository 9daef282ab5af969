/** Opens the reconcilers of a running installation in another process, to run and measure them one at a time. */
import type { Runtime } from "@sitewright/runtimes/runtime.ts";
import { makeKeyUse } from "../app/company/keyUse.ts";
import { makeRefusedKeys } from "../app/company/refusedKeys.ts";
import { makeRepeatedActivity } from "../app/company/repeatedActivity.ts";
import { makeMailDelivery } from "../control/externalServices.ts";
import { periodicWork } from "../control/periodicWork.ts";
import { makeControlServices } from "../control/services.ts";
import { makeLookUp } from "../domains/lookUp.ts";
import { openKeySource } from "../keyFile.ts";
import { openLogs } from "../logs/logs.ts";
import { openSpool } from "../mail/spool.ts";
import { operationDefinitions } from "../operations/definitions.ts";
import { makeAcceptOperation } from "../operations/engine/accept.ts";
import type { TablePublisher } from "../publishing/tablePublisher.ts";
import { makeCron } from "../reconcilers/cron/runCron.ts";
import type { Reconciler } from "../reconcilers/schedule.ts";
import { secretsKeyFile } from "../sealedSettings.ts";
import { sealerOf } from "../sealing.ts";
import type { Config } from "../settings/config.ts";
import { openControlProcessCount } from "../store/controlProcesses.ts";
import { type OpenDatabase, openDatabase } from "../store/open.ts";
import { silentLog as log } from "./engine.ts";

interface OpenedWork extends AsyncDisposable {
  readonly opened: OpenDatabase;
  readonly reconcilers: readonly Reconciler[];
  readonly publisher: TablePublisher;
}

/** `config` has the database of the installation. */
export async function openPeriodicWork(config: Config, runtime: Runtime): Promise<OpenedWork> {
  const opened = openDatabase(config.databaseUrl ?? "");
  const { database, pool } = opened;
  const sealer = sealerOf(await openKeySource(secretsKeyFile(config.data)));
  const services = await makeControlServices({ config, database, runtime, sealer, log });
  const repeatedActivity = makeRepeatedActivity(database);
  const stopping = new AbortController();
  const { edge, publisher } = services;
  const cron = makeCron({ database, runtime, edge, hostOf: ({ host }) => host, concurrency: config.cronRuns, log });
  const reconcilers = periodicWork({
    ...services,
    config,
    cron,
    log,
    repeatedActivity,
    acceptOperation: makeAcceptOperation({ sealer, definitions: operationDefinitions(services) }),
    writeRepeatedActivity: makeRefusedKeys(pool, repeatedActivity).flush,
    logs: openLogs(config.environmentLogs),
    lookUp: makeLookUp(config.resolver),
    phpVersions: new Map([["playground", (await runtime.capabilities()).phpVersions]]),
    keyUse: makeKeyUse(pool),
    processes: await openControlProcessCount(pool),
    spool: openSpool(config.mailSpool),
    deliver: makeMailDelivery(config),
    onBrokenMail: () => undefined,
    apiChallenges: new Map(),
    acmeRoots: null,
    signal: stopping.signal,
  });
  return {
    opened,
    reconcilers,
    publisher,
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await cron.stop();
      await opened.close();
    },
  };
}
