/** The sites of a test's world. */
import { exampleSpec } from "../conformance/conformance.ts";
import type { Runtime, WordPressInstall } from "../runtime.ts";
import type { ServedEnvironment, ServedLimits, Serving } from "../serving.ts";
import type { Site } from "./visitor.ts";

export interface Sites {
  site(wordpress?: Partial<WordPressInstall>, companyId?: string): Promise<Site>;
  limit(site: Site, limits: Partial<ServedLimits>): Promise<void>;
}

export function createSites(runtime: Runtime, serving: Serving, phpVersion: string): Sites {
  let served: readonly ServedEnvironment[] = [];
  return {
    site: async (wordpress, companyId = "company") => {
      const spec = { ...exampleSpec(wordpress), phpVersion };
      await runtime.provision(spec);
      const layout = await runtime.layout(spec.environment);
      if (layout === null) throw new Error("The environment has no layout.");
      served = [...served, { ...spec.environment, companyId, ...layout, phpVersion }];
      await serving.setEnvironments(served);
      return { ...spec, documentRoot: layout.documentRoot };
    },
    limit: async ({ environment: { id } }, changes) => {
      const limits = { threads: 2, memoryMb: 256, requestSeconds: null, disk: null, ...changes };
      served = served.map((each) => (each.id === id ? { ...each, limits } : each));
      await serving.setEnvironments(served);
    },
  };
}
