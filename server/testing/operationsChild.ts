/**
 * A process that runs operations and can be told to die of one, started by `crashHarness.ts`.
 *
 * Its world comes in `WORLD`, as JSON; the runtime is the export `RUNTIME_FACTORY` of the module `RUNTIME_MODULE`,
 * called with the JSON of `RUNTIME_OPTIONS`; what is to go wrong in which operation (or in `*`: any), in `FAULTS`. Says `ready` over IPC, and
 * the operation's id for each fault it is sent.
 */
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import type { Runtime } from "@sitewright/runtimes/runtime.ts";
import { operationDefinitions } from "../operations/definitions.ts";
import { startEngine } from "../operations/engine/engine.ts";
import { openSealer } from "../sealing.ts";
import { openNotifications } from "../store/notifications.ts";
import { openDatabase } from "../store/open.ts";
import { acceptedChannel, endedChannel } from "../store/operations.ts";
import { silentLog, testPaces } from "./engine.ts";
import { anyOperation, everybody, type Fault, withFaults } from "./faults.ts";
import { servicesOf, type WorldFacts } from "./world.ts";

export interface ToChild {
  readonly operationId: string;
  /** `killAtEnd`: when the operation has ended. */
  readonly fault: Fault & { readonly killAtEnd?: boolean };
}

const planned: Readonly<Record<string, ToChild["fault"]>> = JSON.parse(process.env.FAULTS ?? "{}");
const faults = new Map(Object.entries(planned));

const facts: WorldFacts = JSON.parse(process.env.WORLD ?? "");
const { database } = openDatabase(facts.databaseUrl);
const notifications = await openNotifications({ url: facts.databaseUrl, channels: [acceptedChannel, endedChannel] });
const faultOf = (operationId: string) => faults.get(operationId) ?? faults.get(anyOperation);
notifications.on(endedChannel, (operationId) => {
  const fault = faultOf(operationId);
  if (fault?.killAtEnd) void everybody(fault).then(() => process.kill(process.pid, "SIGKILL"));
});
process.on("message", ({ operationId, fault }: ToChild) => {
  faults.set(operationId, fault);
  process.send?.(operationId);
});
process.on("disconnect", () => process.exit());

const definitions = operationDefinitions(servicesOf(facts, database, await makeRuntime()));
const engine = await startEngine({
  url: facts.databaseUrl,
  database,
  notifications,
  sealer: await openSealer(join(facts.dataFolder, "secrets", "key")),
  definitions: Object.values(definitions).map((definition) => withFaults(definition, faultOf)),
  log: silentLog,
  paces: testPaces,
  sweepMilliseconds: 100,
  mostAttempts: 3,
});
engine.lost.then(() => process.exit(1));
// Node itself writes it at a process's end only, and this one is killed. The next one then starts in half of the time.
flushCompileCache();
process.send?.("ready");

async function makeRuntime(): Promise<Runtime> {
  const { RUNTIME_MODULE = "", RUNTIME_FACTORY = "", RUNTIME_OPTIONS = "{}" } = process.env;
  const module: Record<string, (options: unknown) => Runtime> = await import(RUNTIME_MODULE);
  const factory = module[RUNTIME_FACTORY];
  if (!factory) throw new Error(`${RUNTIME_MODULE} has no ${RUNTIME_FACTORY}`);
  return factory(JSON.parse(RUNTIME_OPTIONS));
}
