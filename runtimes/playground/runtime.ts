/** The playground runtime, its making side: WordPress on SQLite, from templates. `serving.ts` is the other side. */
import { SupportedPHPVersions } from "@php-wasm/universal";
import { destroyFolder, environmentFolders, reinstateFolder, retireFolder } from "../folders.ts";
import type { Runtime } from "../runtime.ts";
import { createAssetStore } from "./assets/store.ts";
import { provision } from "./site/provision.ts";
import { readLayout } from "./site/release.ts";
import { usualTemplate } from "./templates/folder.ts";
import { createTemplateStore, templatePhpVersion } from "./templates/template.ts";

export interface PlaygroundRuntimeOptions {
  /** Folder of what all environments share: WordPress, its languages, templates. */
  readonly assets: string;
  /** Folder that holds an environment's folder each. */
  readonly environments: string;
}

/** Older ones have no opcode cache in shared memory under WebAssembly. */
const oldestPhp = "8.1";

const phpVersions = SupportedPHPVersions.filter((version) => Number(version) >= Number(oldestPhp)).toSorted(
  (a, b) => Number(a) - Number(b),
);

export function createPlaygroundRuntime(options: PlaygroundRuntimeOptions): Runtime {
  const assets = createAssetStore({ folder: options.assets });
  const templates = createTemplateStore(assets);
  const foldersOf = (environment: { readonly id: string }) => environmentFolders(options.environments, environment);

  return {
    name: "playground",
    prepare: async (progress) => {
      await assets.prepare(progress);
      progress({ phase: "template", done: 0, total: 1 });
      await templates.get(usualTemplate);
      progress({ phase: "template", done: 1, total: 1 });
    },
    capabilities: async () => ({
      phpVersions,
      defaultPhpVersion: templatePhpVersion,
      locales: (await assets.files()).locales,
      multisite: ["subdirectory", "subdomain"],
    }),
    provision: (spec) => provision(spec, { assets, templates, environments: options.environments }),
    retire: (environment) => retireFolder(foldersOf(environment)),
    reinstate: (environment) => reinstateFolder(foldersOf(environment)),
    destroy: (environment) => destroyFolder(foldersOf(environment)),
    layout: (environment) => readLayout(foldersOf(environment).live, options.assets),
  };
}
