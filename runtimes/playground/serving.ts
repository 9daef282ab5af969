/** The serving side of the playground runtime: runs PHP in workers, which are child processes. */
import { availableParallelism } from "node:os";
import path from "node:path";
import { createAssetStore } from "../assets/store.ts";
import type { Engine } from "../pool/engine.ts";
import { isAtFirstRequest } from "../pool/limits.ts";
import type { Member } from "../pool/member.ts";
import { createPoolServing, type PoolServing, type PoolServingOptions } from "../pool/serving.ts";
import { companyOf } from "../pool/shares.ts";
import { shareProcessor } from "../processor/companies.ts";
import type { EnvironmentRef } from "../runtime.ts";
import type { ServedEnvironment, UploadLimits } from "../serving.ts";
import { defaultTemplate } from "../site/template.ts";
import { driverFolder } from "../sqlite/driver.ts";
import { extensionsFolder } from "./extensions/extensionsFolder.ts";
import { createCompiledStore } from "./templates/compiled.ts";
import { createCompiler } from "./templates/compiler.ts";
import { createTemplateStore, templatePhpVersion } from "./templates/template.ts";
import type { WarmUp } from "./templates/warmUp.ts";
import { assignmentOf } from "./worker/assignment.ts";
import type { AssignOrder, BootOrder } from "./worker/messages.ts";
import { WorkerProcess } from "./worker/process.ts";
import { createSpares } from "./worker/spares.ts";

export interface PlaygroundEngineOptions extends Pick<PoolServingOptions, "requestDeadlineSeconds"> {
  readonly assets: string;
  readonly environments: string;
  /** Folder of the socket on which the edge listens for PHP. */
  readonly run: string;
  /** Returns what shows the edge that a connection comes from this environment's PHP: one line. */
  readonly credentialOf: (environment: EnvironmentRef) => string;
  /**
   * Returns the edge's port. Called when a worker gets its environment: with port 0 it is known only after listening.
   */
  readonly edgePort: () => number;
  readonly siteSuffix: string;
  readonly preparedWorkers: number;
  /** Absent: PHP's own defaults. */
  readonly uploads?: UploadLimits;
  /** Addresses that PHP may not reach in addition to this host: `host:port` of a database on another machine. */
  readonly forbidden?: readonly string[];
  /** Services that PHP may reach only on a public address, `host:port`. */
  readonly internal?: readonly string[];
  /** Networks that PHP may reach although they are not public, such as `10.1.2.0/24`. */
  readonly mayReach?: readonly string[];
  /** URL of the package source; null: none. Absent: WordPress.org. */
  readonly packageSource?: string | null;
  /** How much of the disk PHP must leave free. Absent: nothing. */
  readonly diskReserveBytes?: number;
  /**
   * PHP versions to compile besides the default one: when a site uses them, or else in advance during quiet periods, in
   * this order. Absent: none.
   */
  readonly precompilePhpVersions?: readonly string[];
  /** A period is quiet after this many seconds in which all spares were warm and no worker was busy. */
  readonly aheadSeconds?: number;
  /**
   * Receives the error if a spare worker, or compiled code for fast boots, could not be created: sites are then served
   * more slowly.
   */
  readonly onWarmUpFailure?: (error: unknown) => void;
}

export type PlaygroundServingOptions = PlaygroundEngineOptions & PoolServingOptions;

type Machinery = {
  /** PHP versions that are completely compiled, in ascending order. */
  readonly compiledPhpVersions: readonly string[];
};

export type PlaygroundServing = PoolServing<Machinery>;

const defaultAheadSeconds = 60;

/**
 * Whether the worker is rendering its first page. That uses one CPU core, and much of a second one for the compilers.
 */
function isAtFirstPage({ isBusy, worker }: Member): boolean {
  return isBusy && isAtFirstRequest(worker);
}

export function createPlaygroundServing(options: PlaygroundServingOptions): PlaygroundServing {
  return createPoolServing(options, (members) => createPlaygroundEngine(options, members));
}

/** `poolMembers`: returns the workers of the pool, whichever engine started them. */
export function createPlaygroundEngine(
  options: PlaygroundEngineOptions,
  poolMembers: () => readonly Member[],
): Engine<Machinery> {
  const assets = createAssetStore({ folder: options.assets });
  const templates = createTemplateStore(assets);
  const compiled = createCompiledStore(assets, templates);
  const codeCache = path.resolve(options.assets, "code");
  const deadlineSeconds = options.requestDeadlineSeconds;
  const onWarmUpFailure = options.onWarmUpFailure ?? (() => undefined);

  /** Time of the last activity: now if a worker is busy or a spare is missing. */
  function lastWork(): number {
    const members = poolMembers();
    const isAtWork = spares.count() < options.preparedWorkers || members.some(({ isBusy }) => isBusy);
    return isAtWork ? performance.now() : Math.max(0, ...members.map(({ worker }) => worker.lastUsed));
  }

  const compiler = createCompiler({
    compiled,
    defaultVersion: templatePhpVersion,
    ahead: options.precompilePhpVersions ?? [],
    quietSeconds: options.aheadSeconds ?? defaultAheadSeconds,
    lastWork,
    onFailure: onWarmUpFailure,
  });

  function bootOrder(phpVersion: string): BootOrder {
    return {
      type: "boot",
      phpVersion,
      compiled: compiled.find(phpVersion),
      codeCache,
      extensions: extensionsFolder(options.assets),
      uploads: options.uploads,
    };
  }

  async function warmUp(): Promise<WarmUp> {
    const { core } = await assets.files();
    const { folder } = await templates.get(defaultTemplate);
    return { template: folder, core, driver: driverFolder(options.assets) };
  }

  const spares = createSpares({
    wanted: options.preparedWorkers,
    order: async () => {
      await compiler.defaultReady;
      return bootOrder(templatePhpVersion);
    },
    warmUp,
    deadlineSeconds,
    isCrowded: () => poolMembers().filter(isAtFirstPage).length >= availableParallelism() / 2,
    onFailure: onWarmUpFailure,
  });

  /** Throws if the environment or its release doesn't exist. */
  function assignment(environment: ServedEnvironment): AssignOrder {
    return assignmentOf(environment, { ...options, edgePort: options.edgePort() });
  }

  /** Starts a worker. Background work does not use spares, because replacing one costs more than it gains. */
  function start(environment: ServedEnvironment, isBackground: boolean): WorkerProcess {
    const { phpVersion } = environment;
    // Before taking a spare, which would be lost if this failed.
    const order = assignment(environment);
    const spare = !isBackground && phpVersion === templatePhpVersion ? spares.take() : null;
    const worker = spare ?? new WorkerProcess(bootOrder(phpVersion), deadlineSeconds);
    void worker.started.then((pid) => shareProcessor(companyOf(environment), pid));
    worker.assign(order);
    return worker;
  }

  return {
    start,
    anticipate: ({ phpVersion }) => compiler.compile(phpVersion),
    status: () => ({ preparedWorkers: spares.count(), machinery: { compiledPhpVersions: compiled.known() } }),
    close: async () => {
      compiler.close();
      await spares.close();
    },
  };
}
