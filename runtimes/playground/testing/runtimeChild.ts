/** A process that calls methods of the playground runtime at the same time, for tests that kill it meanwhile. */
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
  await Promise.all([clone && runtime.clone(clone), stage && runtime.stage(stage)]);
  process.disconnect();
});
