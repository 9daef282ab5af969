/** Starts an engine as a new process would, with its own connections. Its operations fail or die as a test says. */
import { join } from "node:path";
import type { Runtime } from "@sitewright/runtimes/runtime.ts";
import { operationDefinitions } from "../operations/definitions.ts";
import { type Engine, startEngine } from "../operations/engine/engine.ts";
import { openSealer } from "../sealing.ts";
import { type Notifications, openNotifications } from "../store/notifications.ts";
import { openDatabase } from "../store/open.ts";
import { acceptedChannel, endedChannel } from "../store/operations.ts";
import { silentLog, testBackoffs } from "./engine.ts";
import { anyOperation, deathOfProcess, type Fault, withFaults } from "./faults.ts";
import { servicesOf, type WorldFacts } from "./services.ts";

/** `killAtEnd`: the runner dies when the operation has ended. */
export type RunnerFault = Fault & { readonly killAtEnd?: boolean };

/** Faults by operation id, or by `anyOperation`. */
export type Faults = Readonly<Record<string, RunnerFault>>;

export interface ToRunner {
  readonly operationId: string;
  readonly fault: RunnerFault;
}

export interface FaultyEngine {
  readonly engine: Engine;
  readonly notifications: Notifications;
  stop(): Promise<void>;
}

/** Starts the engine. `faults` is read at each point, so faults can be added later. */
export async function startFaultyEngine(
  facts: WorldFacts,
  runtime: Runtime,
  faults: ReadonlyMap<string, RunnerFault>,
  death = deathOfProcess,
): Promise<FaultyEngine> {
  const { databaseUrl: url } = facts;
  const { database, close } = openDatabase(url);
  const notifications = await openNotifications({ url, channels: [acceptedChannel, endedChannel] });
  const faultOf = (operationId: string) => faults.get(operationId) ?? faults.get(anyOperation);
  notifications.on(endedChannel, (operationId) => {
    const fault = faultOf(operationId);
    if (fault?.killAtEnd) void death.everybody(fault).then(death.die);
  });
  const definitions = operationDefinitions(servicesOf(facts, database, runtime));
  const engine = await startEngine({
    url,
    database,
    notifications,
    sealer: await openSealer(join(facts.dataFolder, "secrets", "key")),
    definitions: Object.values(definitions).map((definition) => withFaults(definition, faultOf, death)),
    log: silentLog,
    // Operations that share a death all wait for it, at the same time.
    concurrency: Number.POSITIVE_INFINITY,
    backoffs: testBackoffs,
    sweepMilliseconds: 100,
    maxAttempts: facts.maxAttempts ?? 3,
  });
  return {
    engine,
    notifications,
    stop: async () => {
      await engine.stop();
      await notifications.close();
      await close();
    },
  };
}
