/**
 * The playground runtime: creates and changes environments with WordPress on SQLite, from templates. `serving.ts`
 * serves them.
 */

import { createAssetStore } from "../assets/store.ts";
import { diskUse, listFiles } from "../fileTree.ts";
import { destroyFolder, environmentFolders, reinstateFolder, retireFolder } from "../folders.ts";
import { freeDisk } from "../freeDisk.ts";
import { installPackage } from "../packageInstall.ts";
import { prune, switchBack, switchTo, unstage } from "../releaseMoves.ts";
import { currentRelease, ownWebRoot, partOf, type Release, stagedRelease } from "../releases.ts";
import type { EnvironmentRef, Runtime } from "../runtime.ts";
import type { AcceptMail, UploadLimits } from "../serving.ts";
import { stageAddress } from "../site/addressStage.ts";
import { setAdminPassword } from "../site/adminPassword.ts";
import type { SiteContext } from "../site/context.ts";
import { clone } from "../site/copy/clone.ts";
import { compareRelease } from "../site/copy/compareRelease.ts";
import { noPreparedCopies, prepareCopies } from "../site/copy/preparedCopies.ts";
import { rehearse } from "../site/copy/rehearsal.ts";
import { snapshot } from "../site/copy/snapshot.ts";
import { stage } from "../site/copy/stage.ts";
import { installWordPress } from "../site/core.ts";
import { countRows } from "../site/countRows.ts";
import { exportSite } from "../site/export/exportSite.ts";
import { findUser } from "../site/findUser.ts";
import { createLayouts } from "../site/layouts.ts";
import { provision } from "../site/provision.ts";
import { giveToEnvironment, layoutOf, recordOf, reportFullDisk, sharedFoldersOf } from "../site/release.ts";
import { countReplacements, stageReplacement } from "../site/replacement.ts";
import { defaultTemplate } from "../site/template.ts";
import { unchangedPackages } from "../site/unchangedPackages.ts";
import { wordpressOf } from "../site/wordpress.ts";
import { sqliteDatabase } from "../sqlite/sqliteDatabase.ts";
import { phpVersions } from "./php/versions.ts";
import { createCompiledStore } from "./templates/compiled.ts";
import { createTemplateStore, templatePhpVersion } from "./templates/template.ts";
import { createWpCli, type WpCliNetwork, type WpCliOptions } from "./wpcli/wpCli.ts";

export interface PlaygroundRuntimeOptions {
  /** Folder of files that all environments share: WordPress, its languages, templates. */
  readonly assets: string;
  /** Folder that contains one folder for each environment. */
  readonly environments: string;
  /**
   * Number and folder of the copies of the default template that are prepared for new sites (`preparedCopies.ts`). Absent:
   * none.
   */
  readonly ready?: { readonly folder: string; readonly count: number };
  /** Keeps when WP-Cron events are due over restarts. Absent: all databases are read after each. */
  readonly eventsFile?: string;
  /** How much of the disk sites must leave free. Absent: nothing. */
  readonly diskReserveBytes?: number;
  /** Network access of WP-CLI commands. Absent: none. */
  readonly network?: WpCliNetwork;
  /** Takes e-mail from WP-CLI commands. Absent: nothing is sent. */
  readonly acceptMail?: AcceptMail;
  /** Absent: PHP's own defaults. */
  readonly uploads?: UploadLimits;
  /** Limits of WP-CLI commands. Absent: the defaults. */
  readonly wpCliLimits?: WpCliOptions["limits"];
}

export function createPlaygroundRuntime(options: PlaygroundRuntimeOptions): Runtime {
  const assets = createAssetStore({ folder: options.assets });
  const templates = createTemplateStore(assets);
  const { environments, diskReserveBytes = 0 } = options;
  const ready =
    options.ready === undefined
      ? noPreparedCopies
      : prepareCopies({ ...options.ready, template: () => templates.get(defaultTemplate) });
  const foldersOf = (environment: { readonly id: string }) => environmentFolders(environments, environment);
  const liveOf = (environment: EnvironmentRef) => foldersOf(environment).live;

  const layouts = createLayouts(options.assets);
  const wpCli = createWpCli({
    assets,
    compiled: createCompiledStore(assets, templates),
    environments,
    diskReserveBytes,
    network: options.network ?? null,
    acceptMail: options.acceptMail ?? (async () => "nothing can be sent from here"),
    uploads: options.uploads,
    ...(options.wpCliLimits && { limits: options.wpCliLimits }),
  });
  const { eventsFile } = options;
  const database = sqliteDatabase;
  const context: SiteContext = { environments, assets: options.assets, database };
  const events = database.readEvents(environments, eventsFile === undefined ? {} : { file: eventsFile });
  const packages = database.readPackages(environments);
  const filesOf = async (release: Release) =>
    listFiles(await partOf(release, "public"), sharedFoldersOf(recordOf(release)));

  /** Runs `work` on the current release. Returns null if the environment doesn't exist. */
  async function ofCurrent<T>(environment: EnvironmentRef, work: (release: Release) => Promise<T>): Promise<T | null> {
    const release = await currentRelease(liveOf(environment));
    return release === null ? null : work(release);
  }

  return {
    name: "playground",
    prepare: async (progress) => {
      await assets.prepare(progress);
      progress({ phase: "Preparing new sites", done: 0, total: 1 });
      await templates.get(defaultTemplate);
      progress({ phase: "Preparing new sites", done: 1, total: 1 });
    },
    capabilities: async () => ({
      phpVersions,
      defaultPhpVersion: templatePhpVersion,
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
      return release === null ? null : layoutOf(release, options.assets);
    },
    rehearse: async (environment, token) => layoutOf(await rehearse(environment, token, context), options.assets),
    installPackages: async (environment, token, packages) => {
      const webRoot = await ownWebRoot(liveOf(environment), token);
      const takeOwnership = (folder: string) => giveToEnvironment(environment, folder);
      await reportFullDisk(async () => {
        for (const one of packages) await installPackage(webRoot, one, takeOwnership);
      });
    },
    installWordPress: (environment, token, wordpress) => {
      const takeOwnership = (file: string) => giveToEnvironment(environment, file);
      const context = { assets: options.assets, takeOwnership };
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
    runWpCli: (environment, command, begin, signal) => wpCli.run(environment, command, begin, signal),
    listFiles: (environment) => ofCurrent(environment, filesOf),
    wordpress: (environment) =>
      ofCurrent(environment, (release) => wordpressOf(environment, release, liveOf(environment), database)),
    nextEvents: (environments, signal) => events.next(environments, signal),
    cronEvents: (environment, signal) => events.all(environment, signal),
    packages,
    unchangedPackages: (wanted) => unchangedPackages(wanted, context),
    findUser: (environment, email) =>
      ofCurrent(environment, (release) => findUser(environment, release, liveOf(environment), email, database)),
    diskUse: (environment) => ofCurrent(environment, (release) => diskUse(liveOf(environment), release)),
    freeDisk: () => freeDisk({ folder: environments, bytes: diskReserveBytes }),
  };
}
