/** Runs operations that a test defines, with the real engine and a real database. */
import { randomBytes, randomUUID } from "node:crypto";
import type { OperationKind } from "@sitewright/contract/operationKinds.ts";
import type { Pool } from "pg";
import pino from "pino";
import { type AcceptOperation, makeAcceptOperation, type OperationRequest } from "../operations/engine/accept.ts";
import { type Engine, type EngineOptions, startEngine } from "../operations/engine/engine.ts";
import type { AnyDefinition } from "../operations/engine/operation.ts";
import { makeOperationWaits, type OperationWaits } from "../operations/engine/wait.ts";
import { makeSealer, type Sealer } from "../sealing.ts";
import { systemActor } from "../store/company/activity.ts";
import { keysChangedChannel } from "../store/company/apiKeys.ts";
import { eventAddedChannel } from "../store/company/events.ts";
import type { Database, DatabaseTransaction } from "../store/database.ts";
import { type Notifications, openNotifications } from "../store/notifications.ts";
import {
  acceptedChannel,
  endedChannel,
  makeOperationRead,
  type OperationRow,
  readOperation,
} from "../store/operations.ts";

export const silentLog = pino({ level: process.env.SITEWRIGHT_TEST_LOG ?? "silent" });

/** Short pauses, so that tests of retries are fast. */
export const testBackoffs = {
  quickBackoff: { initialDelayMilliseconds: 5, maxDelayMilliseconds: 20, graceMilliseconds: 50 },
  persistentBackoff: { initialDelayMilliseconds: 10, maxDelayMilliseconds: 100, graceMilliseconds: 50 },
};

export interface TestOperations extends AsyncDisposable {
  readonly sealer: Sealer;
  readonly notifications: Notifications;
  readonly accept: AcceptOperation;
  readonly waits: OperationWaits;
  /** Accepts an operation in a new transaction. Defaults: kind `addSite`, a new company. */
  submit(request?: Partial<OperationRequest>): Promise<string>;
  /** Waits up to 30 seconds for the operation to end. Returns its row. */
  finish(operationId: string): Promise<OperationRow>;
  startEngine(options?: Partial<EngineOptions>): Promise<Engine>;
}

interface TestOperationsOptions {
  readonly url: string;
  readonly database: Database;
  readonly pool: Pool;
  /** The definition of every kind of operation, except for `deleteSite` if that is given. */
  readonly addSite: AnyDefinition;
  readonly deleteSite?: AnyDefinition;
  /** The encryption key, for several processes on one database. Absent: a random one. */
  readonly key?: Buffer;
}

const channels = [acceptedChannel, endedChannel, keysChangedChannel, eventAddedChannel];

/** Prepares everything around an engine. The test starts the engine. */
export async function testOperations(options: TestOperationsOptions): Promise<TestOperations> {
  const { url, database, pool } = options;
  const sealer = makeSealer(options.key ?? randomBytes(32));
  const { addSite, deleteSite = addSite } = options;
  const definitions = {
    addSite,
    deleteSite,
    resetSite: addSite,
    addPlainSite: addSite,
    cloneSite: addSite,
    addEnvironment: addSite,
    addPlainEnvironment: addSite,
    cloneEnvironment: addSite,
    deleteEnvironment: addSite,
    pushEnvironment: addSite,
    comparePush: addSite,
    modifyPhpVersion: addSite,
    changeRuntime: addSite,
    restartPhp: addSite,
    clearCache: addSite,
    clearEdgeCache: addSite,
    updateEdgeCacheStatus: addSite,
    changeEnvironmentPhpAllocation: addSite,
    changeSitePhpAllocation: addSite,
    changeEnvironmentLimits: addSite,
    addManualBackup: addSite,
    addScheduledBackup: addSite,
    addDownloadableBackup: addSite,
    removeBackup: addSite,
    restoreBackup: addSite,
    compareRestore: addSite,
    restoreDeletedSite: addSite,
    restoreDeletedEnvironment: addSite,
    proveBackup: addSite,
    rebuildEnvironment: addSite,
    searchAndReplace: addSite,
    updatePlugin: addSite,
    updatePlugins: addSite,
    updateTheme: addSite,
    updateThemes: addSite,
    updateWordPress: addSite,
    previewSearchAndReplace: addSite,
    runWpCli: addSite,
    addDomain: addSite,
    deleteDomain: addSite,
    changePrimaryDomain: addSite,
    createDnsRecord: addSite,
    updateDnsRecord: addSite,
    deleteDnsRecord: addSite,
    restoreZoneVersion: addSite,
    importZoneFile: addSite,
  } satisfies Record<OperationKind, AnyDefinition>;
  const notifications = await openNotifications({ url, channels });
  const accept = makeAcceptOperation({ sealer, definitions });
  const waits = makeOperationWaits({ read: makeOperationRead(pool), notifications });
  return {
    sealer,
    notifications,
    accept,
    waits,
    submit: async (request = {}) => {
      const companyId = request.companyId ?? (await insertTestCompany(database));
      const { operationId } = await database
        .transaction()
        .execute((transaction) => accept(transaction, { ...requestOf(companyId), ...request }));
      return operationId;
    },
    finish: async (operationId) => {
      await waits.untilEnded(operationId, 30);
      const row = await readOperation(database, operationId);
      if (row?.finished_at == null) throw new Error(`${operationId} is ${row?.state ?? "gone"} at step ${row?.step}`);
      return row;
    },
    startEngine: (more = {}) =>
      startEngine({
        url,
        database,
        notifications,
        sealer,
        definitions: [...new Set(Object.values(definitions))],
        log: silentLog,
        backoffs: testBackoffs,
        ...more,
      }),
    [Symbol.asyncDispose]: () => notifications.close(),
  };
}

function requestOf(companyId: string): OperationRequest {
  return {
    kind: "addSite",
    companyId,
    siteId: null,
    environmentId: null,
    locks: [],
    input: {},
    whenBusy: "fail",
    actor: systemActor,
    activityParameters: {},
  };
}

export async function insertTestCompany(database: Database | DatabaseTransaction): Promise<string> {
  const id = randomUUID();
  await database.insertInto("companies").values({ id, name: "Test" }).execute();
  return id;
}
