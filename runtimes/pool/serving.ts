/** The serving side of a runtime that answers with pooled workers, whichever engine runs their PHP. */
import { maxProcessBytes } from "../memoryLimits.ts";
import { machineMemory } from "../processMemory.ts";
import { type AcceptMail, NoAnswer, type OnStalePages, type PhpRequest, type Serving } from "../serving.ts";
import { createAccounts } from "./accounts.ts";
import { createDispatcher } from "./dispatch.ts";
import type { EngineStatus, Facts, MakeEngine } from "./engine.ts";
import { limitsOf } from "./limits.ts";
import type { Member } from "./member.ts";
import { watchMemory } from "./memory.ts";
import { createPool } from "./pool.ts";
import type { Requester } from "./queue.ts";

export interface PoolServingOptions {
  /** Maximum number of workers with an environment. */
  readonly maxWorkers: number;
  /** Memory for workers with an environment, all together. Absent: 60 % of the machine's. */
  readonly allWorkersMemoryBytes?: number;
  readonly requestDeadlineSeconds: number;
  /** Seconds without a request after which a worker is ended. */
  readonly idleSeconds: number;
  /** Seconds for which a worker is kept after a trial, in case the trial's release is served next. */
  readonly candidateSeconds?: number;
  /**
   * A worker is killed when it exceeds this memory, even during a response. Absent: depends on its environment's
   * limits.
   */
  readonly workerMemoryBytes?: number;
  /**
   * Receives each line that PHP logs while it works for a served environment. Trials return their log in the response
   * instead.
   */
  readonly onErrorLine?: (environmentId: string, line: string) => void;
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

export interface PoolServing<Machinery extends Facts = Facts> extends Serving {
  status(): EngineStatus<Machinery> & { readonly workers: readonly WorkerStatus[] };
}

const defaultCandidateSeconds = 60;
/**
 * The maximum number of workers usually needs half of the memory, so this is a little more. The rest is for spares, PostgreSQL,
 * the server and the system's cache of files.
 */
const workersShareOfMemory = 0.6;
/** For two workers: a site may need a second one for requests to itself. */
const minWorkersMemory = 800e6;

/** Memory for all workers of this machine together. */
export function workersMemory(): number {
  return Math.max(minWorkersMemory, machineMemory() * workersShareOfMemory);
}

/** Trials send no mail. */
const noMail = async () => "nothing can be sent from here";

export function createPoolServing<Machinery extends Facts>(
  options: PoolServingOptions,
  makeEngine: MakeEngine<Machinery>,
): PoolServing<Machinery> {
  const acceptMail = options.acceptMail ?? noMail;
  const onErrorLine = options.onErrorLine ?? (() => undefined);
  /** Environments that may connect to mail servers. */
  let mailSenders: ReadonlySet<string> = new Set();

  const pool = createPool({
    maxWorkers: options.maxWorkers,
    idleSeconds: options.idleSeconds,
    waitSeconds: options.requestDeadlineSeconds,
    candidateSeconds: options.candidateSeconds ?? defaultCandidateSeconds,
    start: (environment, isBackground) => {
      const worker = engine.start(environment, isBackground);
      accounts.opened(worker);
      return worker;
    },
    onRest: (member) => accounts.measure(member),
    memoryBytes: options.allWorkersMemoryBytes ?? workersMemory(),
    onMemoryExcess: ({ environment }) => {
      accounts.of(environment.id).counted.killedForMemory += 1;
    },
  });
  const engine = makeEngine(pool.members);
  const accounts = createAccounts(pool.members);

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
      for (const environment of environments) engine.anticipate?.(environment);
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
      engine.anticipate?.(environment);
      return response;
    },
    usage: () => accounts.usage(),
    close: async () => {
      accounts.close();
      stopWatching();
      await pool.close();
      await engine.close();
    },
    status: () => ({
      ...engine.status(),
      workers: startedMembers().map(({ worker, environment, isBusy }) => ({
        pid: worker.pid,
        environmentId: environment.id,
        release: environment.release,
        requests: worker.requests,
        busy: isBusy,
        rssBytes: worker.rssBytes,
      })),
    }),
  };
}

function requesterOf({ fromPhp, isBackground = false }: PhpRequest): Requester {
  if (fromPhp) return "php";
  return isBackground ? "background" : "visitor";
}
