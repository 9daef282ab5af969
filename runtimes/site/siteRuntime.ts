/** Creates and changes environments: the part of a runtime that does not depend on the engine that runs their PHP. */
import type { AssetStore } from "../assets/store.ts";
import { diskUse, listFiles } from "../fileTree.ts";
import { destroyFolder, environmentFolders, reinstateFolder, retireFolder } from "../folders.ts";
import { freeDisk } from "../freeDisk.ts";
import { installPackage } from "../packageInstall.ts";
import { prune, switchBack, switchTo, unstage } from "../releaseMoves.ts";
import { currentRelease, ownWebRoot, partOf, type Release, stagedRelease } from "../releases.ts";
import type { EnvironmentRef, Runtime } from "../runtime.ts";
import { stageAddress } from "./addressStage.ts";
import { setAdminPassword } from "./adminPassword.ts";
import type { SiteContext } from "./context.ts";
import { clone } from "./copy/clone.ts";
import { compareRelease } from "./copy/compareRelease.ts";
import { noPreparedCopies, prepareCopies } from "./copy/preparedCopies.ts";
import { rehearse } from "./copy/rehearsal.ts";
import { snapshot } from "./copy/snapshot.ts";
import { stage } from "./copy/stage.ts";
import { installWordPress } from "./core.ts";
import { countRows } from "./countRows.ts";
import { exportSite } from "./export/exportSite.ts";
import { findUser } from "./findUser.ts";
import { createLayouts } from "./layouts.ts";
import { provision } from "./provision.ts";
import { giveToEnvironment, layoutOf, recordOf, reportFullDisk, sharedFoldersOf } from "./release.ts";
import { countReplacements, stageReplacement } from "./replacement.ts";
import type { SiteDatabase } from "./siteDatabase.ts";
import { defaultTemplate, type TemplateStore } from "./template.ts";
import { unchangedPackages } from "./unchangedPackages.ts";
import { wordpressOf } from "./wordpress.ts";

export interface SiteRuntimeOptions {
  readonly assets: AssetStore;
  /** Folder that contains one folder for each environment. */
  readonly environments: string;
  /**
   * Number and folder of the copies of the default template that are prepared for new sites (`preparedCopies.ts`). Absent:
   * none.
   */
  readonly ready?: { readonly folder: string; readonly count: number } | undefined;
  /** Keeps when WP-Cron events are due over restarts. Absent: all databases are read after each. */
  readonly eventsFile?: string | undefined;
  /** How much of the disk sites must leave free. Absent: nothing. */
  readonly diskReserveBytes?: number | undefined;
}

/** What the engine that runs PHP adds. */
export interface PhpEngine {
  readonly name: string;
  /** As in `Capabilities`. */
  readonly phpVersions: readonly string[];
  readonly defaultPhpVersion: string;
  readonly templates: TemplateStore;
  readonly runWpCli: Runtime["runWpCli"];
}

export function createSiteRuntime(
  { assets, environments, diskReserveBytes = 0, ...options }: SiteRuntimeOptions,
  engine: PhpEngine,
  database: SiteDatabase,
): Runtime {
  const { templates } = engine;
  const ready =
    options.ready === undefined
      ? noPreparedCopies
      : prepareCopies({ ...options.ready, template: () => templates.get(defaultTemplate) });
  const foldersOf = (environment: { readonly id: string }) => environmentFolders(environments, environment);
  const liveOf = (environment: EnvironmentRef) => foldersOf(environment).live;

  const layouts = createLayouts(assets.folder);
  const { eventsFile } = options;
  const context: SiteContext = { environments, assets: assets.folder, database };
  const events = database.readEvents(environments, eventsFile === undefined ? {} : { file: eventsFile });
  const filesOf = async (release: Release) =>
    listFiles(await partOf(release, "public"), sharedFoldersOf(recordOf(release)));

  /** Runs `work` on the current release. Returns null if the environment doesn't exist. */
  async function ofCurrent<T>(environment: EnvironmentRef, work: (release: Release) => Promise<T>): Promise<T | null> {
    const release = await currentRelease(liveOf(environment));
    return release === null ? null : work(release);
  }

  return {
    name: engine.name,
    prepare: async (progress) => {
      await assets.prepare(progress);
      progress({ phase: "Preparing new sites", done: 0, total: 1 });
      await templates.get(defaultTemplate);
      progress({ phase: "Preparing new sites", done: 1, total: 1 });
    },
    capabilities: async () => ({
      phpVersions: engine.phpVersions,
      defaultPhpVersion: engine.defaultPhpVersion,
      locales: (await assets.files()).locales,
      multisite: ["subdirectory", "subdomain"],
    }),
    provision: (spec) => provision(spec, { ...context, assets, templates, ready }),
    setAdminPassword: (environment, digest) => setAdminPassword(environment, digest, context),
    clone: (spec) => clone(spec, context),
    retire: (environment) => retireFolder(foldersOf(environment)),
    reinstate: (environment) => reinstateFolder(foldersOf(environment)),
    destroy: (environment) => destroyFolder(foldersOf(environment)),
    layout: (environment) => layouts.of(liveOf(environment)),
    stage: (spec) => stage(spec, context),
    staged: async (environment, token) => {
      const release = await stagedRelease(liveOf(environment), token);
      return release === null ? null : layoutOf(release, assets.folder);
    },
    rehearse: async (environment, token) => layoutOf(await rehearse(environment, token, context), assets.folder),
    installPackages: async (environment, token, packages) => {
      const webRoot = await ownWebRoot(liveOf(environment), token);
      const takeOwnership = (folder: string) => giveToEnvironment(environment, folder);
      await reportFullDisk(async () => {
        for (const one of packages) await installPackage(webRoot, one, takeOwnership);
      });
    },
    installWordPress: (environment, token, wordpress) => {
      const takeOwnership = (file: string) => giveToEnvironment(environment, file);
      const context = { assets: assets.folder, takeOwnership };
      return reportFullDisk(() => installWordPress(liveOf(environment), token, wordpress, context));
    },
    switchTo: (environment, token) => switchTo(liveOf(environment), token),
    switchBack: (environment, token) => switchBack(liveOf(environment), token),
    unstage: (environment, token) => unstage(liveOf(environment), token),
    prune: (environment) => prune(liveOf(environment)),
    compare: (spec) => compareRelease(spec, context),
    snapshot: (environment, folder) => snapshot(environment, folder, context),
    countRows: (source, signal) => countRows(source, context, signal),
    exportSite: (source, folder) => exportSite(source, folder, context),
    countReplacements: (environment, change, signal) => countReplacements(environment, change, context, signal),
    stageReplacement: (spec) => stageReplacement(spec, context),
    stageAddress: (spec) => stageAddress(spec, context),
    runWpCli: engine.runWpCli,
    listFiles: (environment) => ofCurrent(environment, filesOf),
    wordpress: (environment) =>
      ofCurrent(environment, (release) => wordpressOf(environment, release, liveOf(environment), database)),
    nextEvents: (environments, signal) => events.next(environments, signal),
    cronEvents: (environment, signal) => events.all(environment, signal),
    packages: database.readPackages(environments),
    unchangedPackages: (wanted) => unchangedPackages(wanted, context),
    findUser: (environment, email) =>
      ofCurrent(environment, (release) => findUser(environment, release, liveOf(environment), email, database)),
    diskUse: (environment) => ofCurrent(environment, (release) => diskUse(liveOf(environment), release)),
    freeDisk: () => freeDisk({ folder: environments, bytes: diskReserveBytes }),
  };
}
