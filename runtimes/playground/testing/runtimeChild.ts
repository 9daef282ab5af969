/** A process that calls one method of the playground runtime, for tests that kill it during the call. */
import type { CloneSpec, StageSpec } from "../../runtime.ts";
import { createPlaygroundRuntime, type PlaygroundRuntimeOptions } from "../runtime.ts";

export interface RuntimeCall {
  readonly options: PlaygroundRuntimeOptions;
  readonly clone?: CloneSpec;
  readonly stage?: StageSpec;
}

process.once("message", async ({ options, clone, stage }: RuntimeCall) => {
  const runtime = createPlaygroundRuntime(options);
  process.send?.("begins");
  if (clone !== undefined) await runtime.clone(clone);
  if (stage !== undefined) await runtime.stage(stage);
  process.disconnect();
});
