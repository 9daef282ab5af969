/** The playground runtime, its serving side: the workers that run PHP, as children of this process. */
import { availableParallelism } from "node:os";
import path from "node:path";
import {
  NoAnswer,
  type PhpRequest,
  type ServedEnvironment,
  type Serving,
  type TakeMail,
  type TakeTouched,
} from "../serving.ts";
import { createAssetStore } from "./assets/store.ts";
import { createAccounts } from "./pool/accounts.ts";
import { createAskWorkers } from "./pool/askWorkers.ts";
import { isNew, limitsOf, mostBytes } from "./pool/limits.ts";
import type { Member } from "./pool/member.ts";
import { watchMemory } from "./pool/memory.ts";
import { createPool, type OnBehalfOf } from "./pool/pool.ts";
import { createSpares } from "./pool/spares.ts";
import { createCompiledStore } from "./templates/compiled.ts";
import { createCompiler } from "./templates/compiler.ts";
import { usualTemplate } from "./templates/folder.ts";
import { createTemplateStore, templatePhpVersion } from "./templates/template.ts";
import type { WarmUp } from "./templates/warmUp.ts";
import { assignmentOf } from "./worker/assignment.ts";
import type { AssignOrder, BootOrder } from "./worker/messages.ts";
import { WorkerProcess } from "./worker/process.ts";

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
  /** The largest request body that reaches PHP. Absent: 256 MB. */
  readonly uploadBytes?: number;
  /** A worker without a request for so long is ended. */
  readonly idleSeconds: number;
  /** A worker for what was tried out is kept for so long, in case that is served next. */
  readonly candidateSeconds?: number;
  /** A worker that takes more memory than this is ended in the middle of its answer. Absent: what its environment may have. */
  readonly workerMemoryBytes?: number;
  /** Places that PHP may not reach besides this host: `host:port` of a database on another machine. */
  readonly forbidden?: readonly string[];
  /** Where WordPress's plugins, themes and updates are; null: nowhere. Absent: at WordPress.org. */
  readonly packageSource?: string | null;
  /** Versions of PHP for which is compiled ahead when it is calm, the first of them first; absent: none. */
  readonly aheadPhpVersions?: readonly string[];
  /** It is calm when for so long every spare wanted was warm and no worker was busy. */
  readonly aheadSeconds?: number;
  /**
   * Told of each line that PHP writes to its log while it works for an environment that is served; not of what is tried out,
   * whose answer has it.
   */
  readonly onErrorLine?: (environmentId: string, line: string) => void;
  /** Told why a spare worker, or what makes workers boot fast, could not be made: sites are served more slowly. */
  readonly onSpareFailure?: (error: unknown) => void;
  /** Receives the pages of sites that are out of date. */
  readonly touched?: TakeTouched;
  /** Where what sites send goes. Absent: nowhere, and PHP's `mail()` says false. */
  readonly takeMail?: TakeMail;
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

const usualCandidateSeconds = 60;
const usualAheadSeconds = 20;

/** Which takes all of a processor, and much of a second one, for the compilers. */
function isAtFirstPage({ isBusy, worker }: Member): boolean {
  return isBusy && isNew(worker);
}

/** Trials send no mail. */
const notNow = async () => "nothing can be sent from here";

export function createPlaygroundServing(options: PlaygroundServingOptions): PlaygroundServing {
  const assets = createAssetStore({ folder: options.assets });
  const templates = createTemplateStore(assets);
  const compiled = createCompiledStore(assets, templates);
  const codeCache = path.resolve(options.assets, "code");
  const deadlineSeconds = options.requestDeadlineSeconds;
  const takeMail = options.takeMail ?? notNow;
  /** Environments that may reach mail servers themselves. */
  let mailers: ReadonlySet<string> = new Set();
  const onSpareFailure = options.onSpareFailure ?? (() => undefined);
  const onErrorLine = options.onErrorLine ?? (() => undefined);

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
    return {
      type: "boot",
      phpVersion,
      compiled: compiled.find(phpVersion),
      codeCache,
      uploadBytes: options.uploadBytes,
    };
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

  /** Throws if the environment or its release is not there. */
  function assignment(environment: ServedEnvironment): AssignOrder {
    return assignmentOf(environment, { ...options, edgePort: options.edgePort() });
  }

  /** Background work leaves the spares to visitors, because starting another one costs more than it gains. */
  function start(environment: ServedEnvironment, isBackground: boolean): WorkerProcess {
    const { phpVersion } = environment;
    // A spare that was taken is lost where this fails.
    const order = assignment(environment);
    const spare = !isBackground && phpVersion === templatePhpVersion ? spares.take() : null;
    const worker = spare ?? new WorkerProcess(bootOrder(phpVersion), deadlineSeconds);
    accounts.opened(worker);
    worker.assign(order);
    return worker;
  }

  const pool = createPool({
    maxWorkers: options.maxWorkers,
    idleSeconds: options.idleSeconds,
    waitSeconds: deadlineSeconds,
    candidateSeconds: options.candidateSeconds ?? usualCandidateSeconds,
    start,
    rests: (member) => accounts.look(member),
  });
  const accounts = createAccounts(() => pool.members());

  const stopWatching = watchMemory(() =>
    pool.members().map(({ worker, environment }) => ({
      worker,
      limitBytes: options.workerMemoryBytes ?? mostBytes(limitsOf(environment).memoryMb),
      onExcess: () => {
        accounts.of(environment.id).counted.killedForMemory += 1;
      },
    })),
  );

  const answer = createAskWorkers({ accounts, release: pool.release, folder: options.run });

  return {
    setEnvironments: async (environments) => {
      mailers = new Set(environments.flatMap(({ id, maySendMail }) => (maySendMail ? [id] : [])));
      await pool.setEnvironments(environments);
      for (const { phpVersion } of environments) compiler.compile(phpVersion);
    },
    handle: async (environmentId, request) => {
      try {
        return await answer(environmentId, request, {
          acquire: () => pool.acquire(environmentId, onBehalfOf(request), request.signal),
          onErrorLine: (line) => onErrorLine(environmentId, line),
          mail: (mail) => takeMail(environmentId, mail),
          touched: (touched) => options.touched?.(environmentId, touched),
          maySendMail: mailers.has(environmentId),
        });
      } catch (error) {
        if (error instanceof NoAnswer && error.reason === "busy") accounts.of(environmentId).counted.refusedBusy += 1;
        throw error;
      }
    },
    tryOut: async (environment, request) => {
      const response = await answer(environment.id, request, {
        acquire: () => pool.acquireTrial(environment, request.signal),
        onErrorLine: () => undefined,
        mail: notNow,
        // Visitors have not seen its changes.
        touched: () => undefined,
        maySendMail: false,
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

function onBehalfOf({ fromPhp, isBackground = false }: PhpRequest): OnBehalfOf {
  if (fromPhp) return "php";
  return isBackground ? "background" : "visitor";
}
