/** The playground runtime, its serving side: the workers that run PHP, as children of this process. */
import { realpathSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { NoAnswer, type PhpRequest, type ServedEnvironment, type Serving, type TrialResponse } from "../runtime.ts";
import { createAssetStore } from "./assets/store.ts";
import { isNew } from "./pool/limits.ts";
import type { Member } from "./pool/member.ts";
import { watchMemory } from "./pool/memory.ts";
import { createPool } from "./pool/pool.ts";
import { createSpares } from "./pool/spares.ts";
import { type SpooledBody, spool } from "./pool/spool.ts";
import { ownerOf, releaseFolder } from "./site/release.ts";
import { createCompiledStore } from "./templates/compiled.ts";
import { createCompiler } from "./templates/compiler.ts";
import { usualTemplate } from "./templates/folder.ts";
import { createTemplateStore, templatePhpVersion } from "./templates/template.ts";
import type { WarmUp } from "./templates/warmUp.ts";
import type { RequestHead } from "./worker/frames.ts";
import type { AssignOrder, BootOrder } from "./worker/messages.ts";
import { NeverBegun, WorkerProcess } from "./worker/process.ts";

export interface PlaygroundServingOptions {
  readonly assets: string;
  readonly environments: string;
  /** Folder of sockets; the edge listens on `edge-loopback.sock` in it for requests that PHP makes. */
  readonly run: string;
  /** The edge's port, asked when a worker gets its environment: with port 0 it is known only after listening. */
  readonly edgePort: () => number;
  readonly siteSuffix: string;
  readonly spareWorkers: number;
  /** Workers with an environment, at most. */
  readonly maxWorkers: number;
  readonly requestDeadlineSeconds: number;
  /** A worker without a request for so long is ended. */
  readonly idleSeconds: number;
  /** A worker for what was tried out is kept for so long, in case that is served next. */
  readonly candidateSeconds?: number;
  /** A worker that takes more memory than this is ended in the middle of its answer. */
  readonly workerMemoryBytes?: number;
  /** Places that PHP may not reach besides this host: `host:port` of a database on another machine. */
  readonly forbidden?: readonly string[];
  /** Versions of PHP for which is compiled ahead when it is calm, the first of them first; absent: none. */
  readonly aheadPhpVersions?: readonly string[];
  /** It is calm when for so long every spare wanted was warm and no worker was busy. */
  readonly aheadSeconds?: number;
  /** Told why a spare worker, or what makes workers boot fast, could not be made: sites are served more slowly. */
  readonly onSpareFailure?: (error: unknown) => void;
}

export interface WorkerStatus {
  readonly pid: number;
  readonly environmentId: string;
  readonly release: number;
  readonly requests: number;
  readonly busy: boolean;
  readonly rssBytes: number;
}

export interface PlaygroundStatus {
  readonly workers: readonly WorkerStatus[];
  readonly spares: number;
  /** Versions of PHP for which everything is compiled, ascending. */
  readonly compiledPhpVersions: readonly string[];
}

export interface PlaygroundServing extends Serving {
  status(): PlaygroundStatus;
}

const startTries = 3;
const usualCandidateSeconds = 60;
const usualAheadSeconds = 20;
/** An upload at the usual limit and a script at PHP's own come to half of it. */
const usualWorkerMemoryBytes = 1.5e9;

/** Which takes all of a processor, and much of a second one, for the compilers. */
function isAtFirstPage({ isBusy, worker }: Member): boolean {
  return isBusy && isNew(worker);
}

export function createPlaygroundServing(options: PlaygroundServingOptions): PlaygroundServing {
  const assets = createAssetStore({ folder: options.assets });
  const templates = createTemplateStore(assets);
  const compiled = createCompiledStore(assets, templates);
  const codeCache = path.resolve(options.assets, "code");
  const deadlineSeconds = options.requestDeadlineSeconds;
  const onSpareFailure = options.onSpareFailure ?? (() => undefined);

  /** Now, where a worker is busy or a spare is missing. */
  function lastWork(): number {
    const members = pool.members();
    const isAtWork = spares.count() < options.spareWorkers || members.some(({ isBusy }) => isBusy);
    return isAtWork ? performance.now() : Math.max(0, ...members.map(({ worker }) => worker.lastUsed));
  }

  const compiler = createCompiler({
    compiled,
    usual: templatePhpVersion,
    ahead: options.aheadPhpVersions ?? [],
    calmSeconds: options.aheadSeconds ?? usualAheadSeconds,
    lastWork,
    onFailure: onSpareFailure,
  });

  function bootOrder(phpVersion: string): BootOrder {
    return { type: "boot", phpVersion, compiled: compiled.find(phpVersion), codeCache };
  }

  async function warmUp(): Promise<WarmUp> {
    const { core } = await assets.files();
    const { folder } = await templates.get(usualTemplate);
    return { template: folder, core };
  }

  const spares = createSpares({
    wanted: options.spareWorkers,
    order: async () => {
      await compiler.usual;
      return bootOrder(templatePhpVersion);
    },
    warmUp,
    deadlineSeconds,
    isCrowded: () => pool.members().filter(isAtFirstPage).length >= availableParallelism() / 2,
    onFailure: onSpareFailure,
  });

  /** Throws where the environment or its release is not there. */
  function assignment(environment: ServedEnvironment): AssignOrder {
    const folder = realpathSync(path.join(options.environments, environment.id));
    // Either part of a release may be another release's.
    const database = realpathSync(path.join(releaseFolder(folder, environment.release), "database"));
    const includes = environment.overlays["wp-includes"];
    return {
      type: "assign",
      environment: folder,
      folders: {
        documentRoot: path.relative(folder, environment.documentRoot),
        database: path.relative(folder, database),
        sessions: "sessions",
        core: includes === undefined ? null : path.dirname(includes),
      },
      owner: process.getuid?.() === 0 ? ownerOf(environment.number) : null,
      network: {
        edgePort: options.edgePort(),
        siteSuffix: options.siteSuffix,
        forbidden: options.forbidden ?? [],
        isOffline: environment.isOffline ?? false,
        edgeSocket: path.join(options.run, "edge-loopback.sock"),
      },
    };
  }

  function start(environment: ServedEnvironment): WorkerProcess {
    const { phpVersion } = environment;
    // A spare that was taken is lost where this fails.
    const order = assignment(environment);
    const spare = phpVersion === templatePhpVersion ? spares.take() : null;
    const worker = spare ?? new WorkerProcess(bootOrder(phpVersion), deadlineSeconds);
    worker.assign(order);
    return worker;
  }

  const pool = createPool({
    maxWorkers: options.maxWorkers,
    idleSeconds: options.idleSeconds,
    waitSeconds: deadlineSeconds,
    candidateSeconds: options.candidateSeconds ?? usualCandidateSeconds,
    start,
  });

  const stopWatching = watchMemory(
    () => pool.members().map(({ worker }) => worker),
    options.workerMemoryBytes ?? usualWorkerMemoryBytes,
  );

  /** A worker that died unnoticed is found out by the next request, which then goes to another one. */
  async function run(acquire: () => Promise<Member>, request: PhpRequest, body: SpooledBody | null) {
    for (let tried = 1; ; tried += 1) {
      try {
        const member = await acquire();
        return await member.worker.handle(headOf(request), body, () => pool.release(member));
      } catch (error) {
        if (!(error instanceof NeverBegun)) throw error;
        if (tried === startTries) {
          throw new NoAnswer("crashed", "The workers of this site don't start.", { cause: error });
        }
      }
    }
  }

  async function answer(request: PhpRequest, acquire: () => Promise<Member>): Promise<TrialResponse> {
    const body = request.body === null ? null : await readBody(request.body, options.run);
    try {
      return await run(acquire, request, body);
    } finally {
      await body?.close();
    }
  }

  return {
    setEnvironments: async (environments) => {
      await pool.setEnvironments(environments);
      for (const { phpVersion } of environments) compiler.compile(phpVersion);
    },
    handle: async (environmentId, request) => {
      const acquire = () => pool.acquire(environmentId, request.fromPhp, request.signal);
      const { status, headers, body, finished } = await answer(request, acquire);
      return { status, headers, body, finished };
    },
    tryOut: async (environment, request) => {
      const response = await answer(request, () => pool.acquireTrial(environment, request.signal));
      compiler.compile(environment.phpVersion);
      return response;
    },
    close: async () => {
      compiler.close();
      stopWatching();
      await Promise.all([pool.close(), spares.close()]);
    },
    status: () => ({
      workers: pool.members().map(({ worker, environment, isBusy }) => ({
        pid: worker.pid,
        environmentId: environment.id,
        release: environment.release,
        requests: worker.requests,
        busy: isBusy,
        rssBytes: worker.rssBytes,
      })),
      spares: spares.count(),
      compiledPhpVersions: compiled.known(),
    }),
  };
}

async function readBody(body: Readable, folder: string): Promise<SpooledBody> {
  return spool(body, folder).catch((cause: unknown) => {
    throw new NoAnswer("unavailable", "The request's body did not arrive.", { cause });
  });
}

function headOf(request: PhpRequest): RequestHead {
  const { method, url, script, pathInfo, headers, remoteAddress, https, isReadOnly = false } = request;
  return { method, url, script, pathInfo, headers, remoteAddress, https, isReadOnly };
}
