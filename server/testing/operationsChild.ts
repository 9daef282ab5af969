/**
 * A process that runs operations and dies when a fault says so, started by `startProcess` of `runners.ts`.
 *
 * Reads its world from `WORLD`, its runtime from `RUNTIME`, and its faults by operation id (`*`: any operation) from
 * `FAULTS`, all as JSON. Sends `ready` over IPC, and the operation's id for each fault that it receives.
 */
import { flushCompileCache } from "node:module";
import { type Faults, startFaultyEngine, type ToRunner } from "./faultyEngine.ts";
import { makeRuntime, type RuntimeParameter, type WorldFacts } from "./services.ts";

const facts: WorldFacts = JSON.parse(process.env.WORLD ?? "");
const runtime: RuntimeParameter = JSON.parse(process.env.RUNTIME ?? "");
const planned: Faults = JSON.parse(process.env.FAULTS ?? "{}");
const faults = new Map(Object.entries(planned));

process.on("message", ({ operationId, fault }: ToRunner) => {
  faults.set(operationId, fault);
  process.send?.(operationId);
});
process.on("disconnect", () => process.exit());

const { engine } = await startFaultyEngine(facts, await makeRuntime(runtime), faults);
engine.lost.then(() => process.exit(1));
// Node only writes the cache when a process ends by itself, and this process is killed. The next process starts twice
// as fast with it.
flushCompileCache();
process.send?.("ready");
