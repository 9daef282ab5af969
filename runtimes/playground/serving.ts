/** The serving side of the playground runtime: runs PHP in workers, which are child processes. */
import { availableParallelism } from "node:os";
import path from "node:path";
import { createAssetStore } from "../assets/store.ts";
import { maxProcessBytes } from "../memoryLimits.ts";
import { createAccounts } from "../pool/accounts.ts";
import { createDispatcher } from "../pool/dispatch.ts";
import { isAtFirstRequest, limitsOf } from "../pool/limits.ts";
import type { Member } from "../pool/member.ts";
import { watchMemory } from "../pool/memory.ts";
import { createPool } from "../pool/pool.ts";
import type { Requester } from "../pool/queue.ts";
import { companyOf } from "../pool/shares.ts";
import { machineMemory } from "../processMemory.ts";
import { shareProcessor } from "../processor/companies.ts";
import type { EnvironmentRef } from "../runtime.ts";
import {
  type AcceptMail,
  NoAnswer,
  type OnStalePages,
  type PhpRequest,
  type ServedEnvironment,
  type Serving,
  type UploadLimits,
} from "../serving.ts";
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

export interface PlaygroundServingOptions {
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
  readonly spareWorkers: number;
  /** Maximum number of workers with an environment. */
  readonly maxWorkers: number;
  /** Memory for workers with an environment, all together. Absent: 60 % of the machine's. */
  readonly allWorkersMemoryBytes?: number;
  readonly requestDeadlineSeconds: number;
  /** Absent: PHP's own defaults. */
  readonly uploads?: UploadLimits;
  /** Seconds without a request after which a worker is ended. */
  readonly idleSeconds: number;
  /** Seconds for which a worker is kept after a trial, in case the trial's release is served next. */
  readonly candidateSeconds?: number;
  /**
   * A worker is killed when it exceeds this memory, even during a response. Absent: depends on its environment's
   * limits.
   */
  readonly workerMemoryBytes?: number;
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
   * Receives each line that PHP logs while it works for a served environment. Trials return their log in the response
   * instead.
   */
  readonly onErrorLine?: (environmentId: string, line: string) => void;
  /**
   * Receives the error if a spare worker, or compiled code for fast boots, could not be created: sites are then served
   * more slowly.
   */
  readonly onWarmUpFailure?: (error: unknown) => void;
  /** Receives the pages of sites that are out of date. */
  readonly onStalePages?: OnStalePages;
  /** Takes e-mail from sites. Absent: PHP's `mail()` returns false. */
  readonly acceptMail?: AcceptMail;
}

interface WorkerStatus {
  readonly pid: number;
  readonly environmentId: string;
  readonly release: number;
  readonly requests: number;
  readonly busy: boolean;
  readonly rssBytes: number;
}

export interface PlaygroundStatus {
  readonly workers: readonly WorkerStatus[];
  /** Number of warm spare workers. */
  readonly readyWorkers: number;
  readonly machinery: {
    /** PHP versions that are completely compiled, in ascending order. */
    readonly compiledPhpVersions: readonly string[];
  };
}

export interface PlaygroundServing extends Serving {
  status(): PlaygroundStatus;
}

const defaultCandidateSeconds = 60;
const defaultAheadSeconds = 60;
/**
 * The maximum number of workers usually needs half of the memory, so this is a little more. The rest is for spares, PostgreSQL,
 * the server and the system's cache of files.
 */
const workersShareOfMemory = 0.6;
/** For two workers: a site may need a second one for requests to itself. */
const minWorkersMemory = 800e6;

/**
 * Whether the worker is rendering its first page. That uses one CPU core, and much of a second one for the compilers.
 */
function isAtFirstPage({ isBusy, worker }: Member): boolean {
  return isBusy && isAtFirstRequest(worker);
}

/** Trials send no mail. */
const noMail = async () => "nothing can be sent from here";

export function createPlaygroundServing(options: PlaygroundServingOptions): PlaygroundServing {
  const assets = createAssetStore({ folder: options.assets });
  const templates = createTemplateStore(assets);
  const compiled = createCompiledStore(assets, templates);
  const codeCache = path.resolve(options.assets, "code");
  const deadlineSeconds = options.requestDeadlineSeconds;
  const acceptMail = options.acceptMail ?? noMail;
  /** Environments that may connect to mail servers. */
  let mailSenders: ReadonlySet<string> = new Set();
  const onWarmUpFailure = options.onWarmUpFailure ?? (() => undefined);
  const onErrorLine = options.onErrorLine ?? (() => undefined);

  /** Time of the last activity: now if a worker is busy or a spare is missing. */
  function lastWork(): number {
    const members = pool.members();
    const isAtWork = spares.count() < options.spareWorkers || members.some(({ isBusy }) => isBusy);
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
    wanted: options.spareWorkers,
    order: async () => {
      await compiler.defaultReady;
      return bootOrder(templatePhpVersion);
    },
    warmUp,
    deadlineSeconds,
    isCrowded: () => pool.members().filter(isAtFirstPage).length >= availableParallelism() / 2,
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
    accounts.opened(worker);
    void worker.started.then((pid) => shareProcessor(companyOf(environment), pid));
    worker.assign(order);
    return worker;
  }

  const pool = createPool({
    maxWorkers: options.maxWorkers,
    idleSeconds: options.idleSeconds,
    waitSeconds: deadlineSeconds,
    candidateSeconds: options.candidateSeconds ?? defaultCandidateSeconds,
    start,
    onRest: (member) => accounts.measure(member),
    memoryBytes: options.allWorkersMemoryBytes ?? Math.max(minWorkersMemory, machineMemory() * workersShareOfMemory),
    onMemoryExcess: ({ environment }) => {
      accounts.of(environment.id).counted.killedForMemory += 1;
    },
  });
  const accounts = createAccounts(() => pool.members());

  const stopWatching = watchMemory(() =>
    pool.members().map(({ worker, environment }) => ({
      worker,
      limitBytes: options.workerMemoryBytes ?? maxProcessBytes(limitsOf(environment).memoryMb),
      onExcess: () => {
        accounts.of(environment.id).counted.killedForMemory += 1;
      },
    })),
  );

  const startedMembers = () => pool.members().filter(({ worker }) => worker.pid !== 0);

  const dispatch = createDispatcher({ accounts, release: pool.release });

  return {
    setEnvironments: async (environments) => {
      mailSenders = new Set(environments.flatMap(({ id, maySendMail }) => (maySendMail ? [id] : [])));
      await pool.setEnvironments(environments);
      for (const { phpVersion } of environments) compiler.compile(phpVersion);
    },
    handle: async (environmentId, request) => {
      try {
        return await dispatch(request, {
          acquire: () => pool.acquire(environmentId, requesterOf(request), request.signal),
          onErrorLine: (line) => onErrorLine(environmentId, line),
          mail: (mail) => acceptMail(environmentId, mail),
          onStalePages: (pages) => options.onStalePages?.(environmentId, pages),
          maySendMail: mailSenders.has(environmentId),
        });
      } catch (error) {
        if (error instanceof NoAnswer && error.reason === "busy") accounts.of(environmentId).counted.refusedBusy += 1;
        throw error;
      }
    },
    runTrial: async (environment, request) => {
      let member: Member | null = null;
      const response = await dispatch(request, {
        acquire: async () => {
          member = await pool.acquireTrial(environment, request.signal);
          return member;
        },
        onErrorLine: () => undefined,
        mail: noMail,
        // Visitors have not seen the trial's changes.
        onStalePages: () => undefined,
        maySendMail: false,
      });
      response.body.once("close", () => {
        // The edge does not read endless pages to their end, and PHP would print until its deadline.
        if (!response.body.readableEnded) member?.worker.kill("deadline");
      });
      compiler.compile(environment.phpVersion);
      return response;
    },
    usage: () => accounts.usage(),
    close: async () => {
      accounts.close();
      compiler.close();
      stopWatching();
      await Promise.all([pool.close(), spares.close()]);
    },
    status: () => ({
      workers: startedMembers().map(({ worker, environment, isBusy }) => ({
        pid: worker.pid,
        environmentId: environment.id,
        release: environment.release,
        requests: worker.requests,
        busy: isBusy,
        rssBytes: worker.rssBytes,
      })),
      readyWorkers: spares.count(),
      machinery: { compiledPhpVersions: compiled.known() },
    }),
  };
}

function requesterOf({ fromPhp, isBackground = false }: PhpRequest): Requester {
  if (fromPhp) return "php";
  return isBackground ? "background" : "visitor";
}
