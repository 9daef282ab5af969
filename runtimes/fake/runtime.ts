/**
 * A runtime that creates folders but no WordPress, for tests of everything above the runtimes. Its state is on disk: it
 * survives a kill of its process, and several processes may share it.
 */
import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import { diskUse, listFiles } from "../fileTree.ts";
import {
  buildAtomically,
  destroyFolder,
  type EnvironmentFolders,
  environmentFolders,
  reinstateFolder,
  retireFolder,
} from "../folders.ts";
import { freeDisk } from "../freeDisk.ts";
import { installPackage } from "../packageInstall.ts";
import { prune, rehearseRelease, stageRelease, switchBack, switchTo, unstage } from "../releaseMoves.ts";
import {
  currentRelease,
  findRelease,
  firstRelease,
  ownWebRoot,
  partOf,
  type Release,
  releaseFolder,
  releaseIn,
  requireRelease,
  requireStillCurrent,
  stagedRelease,
  writeRecord,
} from "../releases.ts";
import {
  type EnvironmentLayout,
  type EnvironmentRef,
  type Runtime,
  RuntimeFailure,
  type StageSpec,
} from "../runtime.ts";
import { countRows, readTables } from "./database.ts";
import { nextOf, plansOf } from "./events.ts";
import { exportRelease } from "./export.ts";
import { fillMoved } from "./move.ts";
import { packagesOf } from "./packages.ts";
import {
  copyPart,
  factsOf,
  fillCopy,
  fillNew,
  fillPassword,
  fillVersion,
  sharedFoldersOf,
  specOf,
  versionOf,
  writeSpec,
} from "./release.ts";
import { fillReplaced, replaceIn, replacementsOf } from "./replacement.ts";
import { openScript, type Script, type ScriptedMethod } from "./script.ts";
import { compare, fillNext, fillRehearsal, type Plan, planStage } from "./stage.ts";
import { findUser } from "./users.ts";
import { runFakeWpCli } from "./wpCli.ts";

export { readSpec } from "./release.ts";

export const fakeCapabilities = {
  phpVersions: ["8.2", "8.3", "8.4"],
  defaultPhpVersion: "8.3",
  locales: ["de_DE", "en_US"],
  multisite: ["subdirectory", "subdomain"],
} as const;

async function layoutOf(release: Release): Promise<EnvironmentLayout> {
  const { wordpress } = await specOf(release);
  return {
    release: release.number,
    documentRoot: await partOf(release, "public"),
    overlays: {},
    multisite: wordpress?.multisite ?? null,
    wordpressVersion: await versionOf(release),
  };
}

/** Creates a fake runtime. Instances with the same folder share their state, across processes too. */
export function createFakeRuntime(options: { readonly folder: string }): Runtime & { readonly script: Script } {
  const environments = path.join(options.folder, "environments");
  const script = openScript(options.folder);

  function foldersOf(environment: EnvironmentRef): EnvironmentFolders {
    return environmentFolders(environments, environment);
  }
  const liveOf = (environment: EnvironmentRef) => foldersOf(environment).live;

  async function scripted<T>(method: ScriptedMethod, environment: EnvironmentRef | null, work: () => Promise<T>) {
    const environmentId = environment?.id ?? null;
    await script.reach({ method, environmentId, when: "before" });
    const result = await work();
    await script.reach({ method, environmentId, when: "after" });
    return result;
  }

  function middle(method: ScriptedMethod, { id }: EnvironmentRef): Promise<void> {
    return script.reach({ method, environmentId: id, when: "middle" });
  }

  /** Creates an environment. Returns its WordPress version. */
  async function make(environment: EnvironmentRef, fill: (release: string) => Promise<void>) {
    const { live, building } = foldersOf(environment);
    await buildAtomically(live, building, async (folder) => {
      await mkdir(releaseFolder(folder, 1), { recursive: true });
      await fill(releaseFolder(folder, 1));
      await symlink(path.join("releases", "1"), path.join(folder, "current"));
    });
    return { wordpressVersion: await versionOf(await requireRelease(live)) };
  }

  function sourceOf(source: StageSpec["source"]): Promise<Release> {
    return "folder" in source ? releaseIn(source.folder) : requireRelease(liveOf(source));
  }

  async function planOf(spec: Omit<StageSpec, "token">): Promise<Plan> {
    const [own, source] = await Promise.all([requireRelease(liveOf(spec.environment)), sourceOf(spec.source)]);
    return planStage(own, source, spec);
  }

  async function snapshot(environment: EnvironmentRef, folder: string): Promise<void> {
    const live = liveOf(environment);
    const release = await requireRelease(live);
    const copyParts = async (target: string) => {
      await copyPart("public", release, target);
      await middle("snapshot", environment);
      await copyPart("database", release, target);
      await writeSpec(target, await specOf(release), []);
    };
    await buildAtomically(folder, `${folder}.new`, async (target) => {
      await requireStillCurrent(live, release, copyParts(target));
      await writeRecord(target, firstRelease);
    });
  }

  return {
    name: "fake",
    script,
    prepare: (progress) => scripted("prepare", null, async () => progress({ phase: "nothing", done: 1, total: 1 })),
    capabilities: async () => fakeCapabilities,
    provision: async (spec) => {
      const { environment, wordpress } = spec;
      if (wordpress !== null && !fakeCapabilities.locales.some((locale) => locale === wordpress.locale)) {
        throw new RuntimeFailure(`The language ${wordpress.locale} is not available.`);
      }
      return scripted("provision", environment, () =>
        make(environment, async (release) => {
          await middle("provision", environment);
          await fillNew(spec, release);
        }),
      );
    },
    setAdminPassword: (environment, digest) =>
      scripted("setAdminPassword", environment, async () => {
        await fillPassword(await requireRelease(liveOf(environment)), digest);
      }),
    clone: (spec) =>
      scripted("clone", spec.environment, () =>
        make(spec.environment, async (release) => {
          const source = await sourceOf(spec.source);
          await middle("clone", spec.environment);
          await fillCopy(source, spec, release);
        }),
      ),
    retire: (environment) => scripted("retire", environment, () => retireFolder(foldersOf(environment))),
    reinstate: (environment) => scripted("reinstate", environment, () => reinstateFolder(foldersOf(environment))),
    destroy: (environment) => scripted("destroy", environment, () => destroyFolder(foldersOf(environment))),
    layout: async (environment) => {
      await script.reach({ method: "layout", environmentId: environment.id, when: "before" });
      const release = await currentRelease(liveOf(environment));
      return release === null ? null : layoutOf(release);
    },
    stage: (spec) =>
      scripted("stage", spec.environment, () =>
        stageRelease(liveOf(spec.environment), spec.token, async () => {
          const plan = await planOf(spec);
          return (folder) => fillNext(plan, spec.token, folder, () => middle("stage", spec.environment));
        }),
      ),
    staged: (environment, token) =>
      scripted("staged", environment, async () => {
        const release = await stagedRelease(liveOf(environment), token);
        return release === null ? null : layoutOf(release);
      }),
    rehearse: (environment, token) =>
      scripted("rehearse", environment, async () =>
        layoutOf(
          await rehearseRelease(
            liveOf(environment),
            token,
            (staged, rehearsal) => (folder) =>
              fillRehearsal(staged, rehearsal, folder, () => middle("rehearse", environment)),
          ),
        ),
      ),
    installPackages: (environment, token, packages) =>
      scripted("installPackages", environment, async () => {
        const webRoot = await ownWebRoot(liveOf(environment), token);
        for (const one of packages) {
          await middle("installPackages", environment);
          await installPackage(webRoot, one, async () => undefined);
        }
      }),
    installWordPress: (environment, token, wordpress) =>
      scripted("installWordPress", environment, async () => {
        await ownWebRoot(liveOf(environment), token);
        const release = await findRelease(liveOf(environment), token);
        await middle("installWordPress", environment);
        if (release !== null) await fillVersion(release, wordpress);
      }),
    switchTo: (environment, token) => scripted("switchTo", environment, () => switchTo(liveOf(environment), token)),
    switchBack: (environment, token) =>
      scripted("switchBack", environment, () => switchBack(liveOf(environment), token)),
    unstage: (environment, token) => scripted("unstage", environment, () => unstage(liveOf(environment), token)),
    prune: (environment) => scripted("prune", environment, () => prune(liveOf(environment))),
    compare: (spec) => scripted("compare", spec.environment, async () => compare(await planOf(spec))),
    snapshot: (environment, folder) => scripted("snapshot", environment, () => snapshot(environment, folder)),
    countRows: (source, signal) =>
      scripted("countRows", "folder" in source ? null : source, async () => {
        signal.throwIfAborted();
        return countRows(await readTables(await partOf(await sourceOf(source), "database")));
      }),
    exportSite: ({ folder: source }, folder) =>
      scripted("exportSite", null, async () =>
        exportRelease(await releaseIn(source), folder, () =>
          script.reach({ method: "exportSite", environmentId: null, when: "middle" }),
        ),
      ),
    countReplacements: (environment, change, signal) =>
      scripted("countReplacements", environment, async () => {
        signal.throwIfAborted();
        const release = await requireRelease(liveOf(environment));
        return replaceIn(await readTables(await partOf(release, "database")), change).replacements;
      }),
    stageReplacement: ({ environment, token, change }) =>
      scripted("stageReplacement", environment, async () => {
        const live = liveOf(environment);
        await stageRelease(live, token, async () => {
          const own = await requireRelease(live);
          return (folder) => fillReplaced(own, token, change, folder, () => middle("stageReplacement", environment));
        });
        return replacementsOf(await findRelease(live, token));
      }),
    stageAddress: (spec) =>
      scripted("stageAddress", spec.environment, () =>
        stageRelease(liveOf(spec.environment), spec.token, async () => {
          const own = await requireRelease(liveOf(spec.environment));
          return (folder) => fillMoved(own, spec, folder, () => middle("stageAddress", spec.environment));
        }),
      ),
    runWpCli: (environment, command, begin, signal) =>
      scripted("runWpCli", environment, async () => {
        const release = await requireRelease(liveOf(environment));
        signal.throwIfAborted();
        await begin();
        await middle("runWpCli", environment);
        signal.throwIfAborted();
        return runFakeWpCli(release, command);
      }),
    listFiles: (environment) =>
      scripted("listFiles", environment, async () => {
        const release = await currentRelease(liveOf(environment));
        if (release === null) return null;
        return listFiles(await partOf(release, "public"), sharedFoldersOf(await specOf(release)));
      }),
    wordpress: (environment) =>
      scripted("wordpress", environment, async () => {
        const release = await currentRelease(liveOf(environment));
        return release === null ? null : factsOf(release);
      }),
    nextEvents: (wanted) =>
      scripted("nextEvents", null, async () => {
        const found = await Promise.all(
          wanted.map(async (each) => [each.id, await plansOf(await currentRelease(liveOf(each)))] as const),
        );
        return new Map(found.flatMap(([id, plans]) => (plans === null ? [] : [[id, nextOf(plans)] as const])));
      }),
    cronEvents: (environment) =>
      scripted("cronEvents", environment, async () => plansOf(await currentRelease(liveOf(environment)))),
    packages: (wanted, signal) =>
      scripted("packages", null, async () => {
        signal.throwIfAborted();
        const found = await Promise.all(
          wanted.map(async (each) => [each.id, await packagesOf(await currentRelease(liveOf(each)))] as const),
        );
        return new Map(found.flatMap(([id, packages]) => (packages === null ? [] : [[id, packages] as const])));
      }),
    // It can't be certain, because tests change its files within milliseconds.
    unchangedPackages: async () => new Set(),
    findUser: (environment, email) =>
      scripted("findUser", environment, async () => {
        const release = await currentRelease(liveOf(environment));
        if (release === null || (await factsOf(release)) === null) return null;
        return { user: findUser(await readTables(await partOf(release, "database")), email) };
      }),
    diskUse: (environment) =>
      scripted("diskUse", environment, async () => {
        const release = await currentRelease(liveOf(environment));
        return release === null ? null : diskUse(liveOf(environment), release);
      }),
    freeDisk: () => scripted("freeDisk", null, () => freeDisk({ folder: environments, bytes: 0 })),
  };
}
