/** The playground runtime, its making side: WordPress on SQLite, from templates. `serving.ts` is the other side. */
import { SupportedPHPVersions } from "@php-wasm/universal";
import { diskUse, listFiles } from "../fileTree.ts";
import { destroyFolder, environmentFolders, reinstateFolder, retireFolder } from "../folders.ts";
import { prune, switchBack, switchTo, unstage } from "../releaseMoves.ts";
import { currentRelease, partOf, type Release, stagedRelease } from "../releases.ts";
import type { EnvironmentRef, Runtime } from "../runtime.ts";
import { createAssetStore } from "./assets/store.ts";
import { clone } from "./site/clone.ts";
import { compareRelease } from "./site/compareRelease.ts";
import { provision } from "./site/provision.ts";
import { layoutOf, recordOf, sharedFoldersOf } from "./site/release.ts";
import { snapshot } from "./site/snapshot.ts";
import { stage } from "./site/stage.ts";
import { wordpressOf } from "./site/wordpress.ts";
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
  const { environments } = options;
  const foldersOf = (environment: { readonly id: string }) => environmentFolders(environments, environment);
  const liveOf = (environment: EnvironmentRef) => foldersOf(environment).live;

  const layout = (release: Release) => layoutOf(release, options.assets);
  const list = async (release: Release) =>
    listFiles(await partOf(release, "public"), sharedFoldersOf(recordOf(release)));

  /** Null where the environment is absent. */
  async function ofCurrent<T>(environment: EnvironmentRef, work: (release: Release) => Promise<T>): Promise<T | null> {
    const release = await currentRelease(liveOf(environment));
    return release === null ? null : work(release);
  }

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
    provision: (spec) => provision(spec, { assets, templates, environments }),
    clone: (spec) => clone(spec, environments),
    retire: (environment) => retireFolder(foldersOf(environment)),
    reinstate: (environment) => reinstateFolder(foldersOf(environment)),
    destroy: (environment) => destroyFolder(foldersOf(environment)),
    layout: (environment) => ofCurrent(environment, layout),
    stage: (spec) => stage(spec, environments),
    staged: async (environment, token) => {
      const release = await stagedRelease(liveOf(environment), token);
      return release === null ? null : layout(release);
    },
    switchTo: (environment, token) => switchTo(liveOf(environment), token),
    switchBack: (environment, token) => switchBack(liveOf(environment), token),
    unstage: (environment, token) => unstage(liveOf(environment), token),
    prune: (environment) => prune(liveOf(environment)),
    compare: (spec) => compareRelease(spec, environments),
    snapshot: (environment, folder) => snapshot(liveOf(environment), folder),
    listFiles: (environment) => ofCurrent(environment, list),
    wordpress: (environment) => ofCurrent(environment, (release) => wordpressOf(release, liveOf(environment))),
    diskUse: (environment) => ofCurrent(environment, diskUse),
  };
}
