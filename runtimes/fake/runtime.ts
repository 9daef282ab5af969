/**
 * A runtime that makes folders and no WordPress, for tests of everything above the runtimes. Its state is on
 * disk: it survives the kill of the process that used it, and several processes may share it.
 */
import { mkdir, readFile, realpath, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import {
  destroyFolder,
  type EnvironmentFolders,
  environmentFolders,
  exists,
  reinstateFolder,
  removeTree,
  retireFolder,
} from "../folders.ts";
import { type EnvironmentRef, type ProvisionSpec, type Runtime, RuntimeFailure } from "../runtime.ts";
import { openScript, type Script, type ScriptedMethod } from "./script.ts";

const wordpressVersion = "7.1.1";

export const fakeCapabilities = {
  phpVersions: ["8.2", "8.3", "8.4"],
  defaultPhpVersion: "8.3",
  locales: ["de_DE", "en_US"],
  multisite: ["subdirectory", "subdomain"],
} as const;

/** Same folder, same fake: what one process provisioned another one sees. */
export function createFakeRuntime(options: { readonly folder: string }): Runtime & { readonly script: Script } {
  const environments = path.join(options.folder, "environments");
  const script = openScript(options.folder);

  function foldersOf(environment: EnvironmentRef): EnvironmentFolders {
    return environmentFolders(environments, environment);
  }

  async function scripted(method: ScriptedMethod, environmentId: string | null, work: () => Promise<void>) {
    await script.reach({ method, environmentId, when: "before" });
    await work();
    await script.reach({ method, environmentId, when: "after" });
  }

  async function build(spec: ProvisionSpec): Promise<void> {
    const folders = foldersOf(spec.environment);
    if (await exists(folders.live)) return;
    await removeTree(folders.beside);
    const documentRoot = path.join(folders.beside, "public");
    await mkdir(documentRoot, { recursive: true });
    await script.reach({ method: "provision", environmentId: spec.environment.id, when: "middle" });
    await writeFile(path.join(documentRoot, "index.php"), "<?php\n");
    await writeFile(path.join(folders.beside, "spec.json"), JSON.stringify(spec));
    await rename(folders.beside, folders.live);
  }

  return {
    name: "fake",
    script,
    prepare: async (progress) => {
      await scripted("prepare", null, async () => progress({ phase: "nothing", done: 1, total: 1 }));
    },
    capabilities: async () => fakeCapabilities,
    provision: async (spec) => {
      if (!fakeCapabilities.locales.some((locale) => locale === spec.wordpress.locale)) {
        throw new RuntimeFailure(`The language ${spec.wordpress.locale} is not available.`);
      }
      await scripted("provision", spec.environment.id, () => build(spec));
      return { wordpressVersion };
    },
    retire: (environment) => scripted("retire", environment.id, () => retireFolder(foldersOf(environment))),
    reinstate: (environment) => scripted("reinstate", environment.id, () => reinstateFolder(foldersOf(environment))),
    destroy: (environment) => scripted("destroy", environment.id, () => destroyFolder(foldersOf(environment))),
    layout: async (environment) => {
      await script.reach({ method: "layout", environmentId: environment.id, when: "before" });
      const { live } = foldersOf(environment);
      const spec = await readSpec(path.join(live, "spec.json"));
      if (spec === null) return null;
      const documentRoot = await realpath(path.join(live, "public"));
      return { release: 1, documentRoot, overlays: {}, multisite: spec.wordpress.multisite };
    },
  };
}

function isSpec(value: unknown): value is ProvisionSpec {
  return typeof value === "object" && value !== null && "environment" in value && "wordpress" in value;
}

/** What an environment of the fake was provisioned from; null where there is none. */
export async function readSpec(file: string): Promise<ProvisionSpec | null> {
  const text = await readFile(file, "utf8").catch(() => null);
  const parsed: unknown = text === null ? null : JSON.parse(text);
  return isSpec(parsed) ? parsed : null;
}
