/** A process that serves an environment natively, for tests that kill it. It requests a URL at once. */
import path from "node:path";
import { exampleRequest } from "../../conformance/conformance.ts";
import { useEnvironmentGroups } from "../../processor/environments.ts";
import type { ServedEnvironment } from "../../serving.ts";
import type { SandboxOptions } from "../environmentSandbox.ts";
import { createNativeServing } from "../serving.ts";
import type { PhpInstallation } from "../versions/installation.ts";

export interface ServingCall extends Pick<SandboxOptions, "assets" | "environments" | "run"> {
  /** Folder that names the control groups. */
  readonly data: string;
  readonly php: PhpInstallation;
  readonly environment: ServedEnvironment;
  readonly script: string;
}

process.once("message", async ({ data, php, environment, script, ...places }: ServingCall) => {
  await useEnvironmentGroups(data);
  const serving = createNativeServing({
    ...places,
    phpOf: () => php,
    network: null,
    packageSource: null,
    layers: path.join(places.run, "l"),
    maxWorkers: 2,
    requestDeadlineSeconds: 600,
    idleSeconds: 600,
    onLog: () => undefined,
    onFailure: (error) => {
      throw error;
    },
  });
  await serving.setEnvironments([environment]);
  for (const isReadOnly of [false, true])
    void serving.handle(environment.id, exampleRequest("http://site.test", { url: script, script, isReadOnly }));
});
