/** A playground for a test, with the asset store that all tests share. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { exampleSpec, type World } from "../../conformance/conformance.ts";
import type { WordPressInstall } from "../../runtime.ts";
import type { ServedEnvironment, ServedLimits } from "../../serving.ts";
import { createPlaygroundRuntime } from "../runtime.ts";
import { createPlaygroundServing, type PlaygroundServing, type PlaygroundServingOptions } from "../serving.ts";
import type { Site } from "./visitor.ts";

export const sharedAssets = fileURLToPath(new URL("../../../.cache/assets", import.meta.url));

export interface Playground extends World {
  readonly serving: PlaygroundServing;
  readonly folder: string;
  readonly environments: string;
  readonly run: string;
  /**
   * Provisions an environment and serves it in addition to the ones already served. Absent: default settings, and a company that
   * these sites share.
   */
  site(wordpress?: Partial<WordPressInstall>, companyId?: string): Promise<Site>;
  /** Changes the limits of a served site. */
  limit(site: Site, limits: Partial<ServedLimits>): Promise<void>;
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
    spareWorkers: 0,
    maxWorkers: 2,
    requestDeadlineSeconds: 60,
    idleSeconds: 300,
    ...changes,
  });
  let served: readonly ServedEnvironment[] = [];

  return {
    runtime,
    serving,
    folder,
    environments,
    run,
    site: async (wordpress, companyId = "company") => {
      const spec = exampleSpec(wordpress);
      await runtime.provision(spec);
      const layout = await runtime.layout(spec.environment);
      if (layout === null) throw new Error("The environment has no layout.");
      served = [...served, { ...spec.environment, companyId, ...layout, phpVersion: spec.phpVersion }];
      await serving.setEnvironments(served);
      return { ...spec, documentRoot: layout.documentRoot };
    },
    limit: async ({ environment: { id } }, changes) => {
      const limits = { threads: 2, memoryMb: 256, requestSeconds: null, disk: null, ...changes };
      served = served.map((each) => (each.id === id ? { ...each, limits } : each));
      await serving.setEnvironments(served);
    },
    close: async () => {
      await serving.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
