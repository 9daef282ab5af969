/** The runtimes that regions and environments name. A new runtime is added here, and to the composition roots. */
export const runtimeNames = ["playground", "native"] as const;
export type RuntimeName = (typeof runtimeNames)[number];

/** The runtime of environments that name none, because they were recorded when it was the only one. */
export const firstRuntime: RuntimeName = "playground";

/** Returns the name of an environment's runtime. */
export function runtimeOf({ runtime = firstRuntime }: { readonly runtime?: string }): string {
  return runtime;
}
