/**
 * A process that runs operations and can be told to die of one, started by `startProcess` of `runners.ts`.
 *
 * Its world comes in `WORLD` and its runtime in `RUNTIME`, as JSON; what is to go wrong in which operation (or in `*`: any),
 * in `FAULTS`. Says `ready` over IPC, and the operation's id for each fault it is sent.
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
// Node writes it when a process ends by itself, and this one is killed. The next one then starts in half of the time.
flushCompileCache();
process.send?.("ready");
