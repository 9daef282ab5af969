/** A playground for a test, with the asset store that all tests share. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { World } from "../../conformance/conformance.ts";
import { createSites, type Sites } from "../../testing/sites.ts";
import { createPlaygroundRuntime } from "../runtime.ts";
import { createPlaygroundServing, type PlaygroundServing, type PlaygroundServingOptions } from "../serving.ts";
import { templatePhpVersion } from "../templates/template.ts";

export const sharedAssets = fileURLToPath(new URL("../../../.cache/assets", import.meta.url));

export interface Playground extends World, Sites {
  readonly serving: PlaygroundServing;
  readonly folder: string;
  readonly environments: string;
  readonly run: string;
  readonly phpVersion: string;
}

/** Opens a playground. `close` also removes its folder. */
export async function openPlayground(changes: Partial<PlaygroundServingOptions> = {}): Promise<Playground> {
  const folder = await mkdtemp(path.join(tmpdir(), "playground-"));
  const environments = path.join(folder, "environments");
  const run = path.join(folder, "run");
  await mkdir(run, { mode: 0o700 });
  const { acceptMail, uploads } = changes;
  const runtime = createPlaygroundRuntime({
    assets: sharedAssets,
    environments,
    ...(acceptMail && { acceptMail }),
    ...(uploads && { uploads }),
  });
  await runtime.prepare(() => undefined);
  const serving = createPlaygroundServing({
    assets: sharedAssets,
    environments,
    run,
    credentialOf: ({ id }) => id,
    edgePort: () => 8081,
    siteSuffix: "localhost",
    preparedWorkers: 0,
    maxWorkers: 2,
    requestDeadlineSeconds: 60,
    idleSeconds: 300,
    ...changes,
  });
  return {
    runtime,
    serving,
    folder,
    environments,
    run,
    phpVersion: templatePhpVersion,
    ...createSites(runtime, serving, templatePhpVersion),
    close: async () => {
      await serving.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
