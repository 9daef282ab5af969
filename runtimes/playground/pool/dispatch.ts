/** Runs one request: reads its body, gets a worker, and charges the usage to the environment. */
import type { Readable } from "node:stream";
import { NoAnswer, type PhpRequest, type PhpResponse } from "../../serving.ts";
import type { RequestHead } from "../worker/frames.ts";
import { type RequestCallbacks, RequestNotStarted } from "../worker/process.ts";
import { type Accounts, allowanceOf } from "./accounts.ts";
import { createEnvironmentLimiter } from "./environmentLimiter.ts";
import { limitsOf } from "./limits.ts";
import type { Member } from "./member.ts";
import { type SpooledBody, spool, type Write } from "./spool.ts";

/** How to get a worker, and the receivers of PHP's log lines, mail and changed pages. */
interface DispatchOptions extends Required<Pick<RequestCallbacks, "onErrorLine" | "mail" | "onStalePages">> {
  readonly acquire: () => Promise<Member>;
  readonly maySendMail: boolean;
}

interface DispatcherOptions {
  readonly accounts: Accounts;
  /** Called when a worker has finished its request. */
  readonly release: (member: Member) => void;
  /** Folder for bodies that are too large for memory. */
  readonly folder: string;
}

/** Runs a request. Rejects with `NoAnswer`. */
type Dispatch = (environmentId: string, request: PhpRequest, asking: DispatchOptions) => Promise<PhpResponse>;

const maxAttempts = 3;
/**
 * Concurrent upload writes of one environment: half of this process's disk threads, so that one site's uploads don't
 * block other sites' files.
 */
const maxUploadWrites = 2;

export function createDispatcher({ accounts, release, folder }: DispatcherOptions): Dispatch {
  const uploadWrites = createEnvironmentLimiter(maxUploadWrites);

  /** Charges the request's usage to the member's environment. */
  function callbacksFor(member: Member, request: PhpRequest): RequestCallbacks {
    const { id } = member.environment;
    const account = accounts.of(id);
    const began = performance.now();
    account.counted.phpRequests += 1;
    return {
      deadlineSeconds: request.deadlineSeconds ?? limitsOf(member.environment).requestSeconds,
      grown: (bytes) => {
        account.grown.bytes += bytes;
      },
      timedOut: () => {
        account.counted.killedForTime += 1;
      },
      finished: (hasWritten) => {
        account.counted.phpMilliseconds += performance.now() - began;
        if (hasWritten) account.counted.writes += 1;
        release(member);
      },
    };
  }

  /** If a worker has died unnoticed, the request goes to another one. */
  async function run(
    { acquire, maySendMail, ...receivers }: DispatchOptions,
    request: PhpRequest,
    body: SpooledBody | null,
  ) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const member = await acquire();
        const head = headOf(request, { diskLeftBytes: allowanceOf(accounts, member), maySendMail });
        return await member.worker.handle(head, body, { ...callbacksFor(member, request), ...receivers });
      } catch (error) {
        if (!(error instanceof RequestNotStarted)) throw error;
        if (attempt === maxAttempts) {
          throw new NoAnswer("crashed", "The workers of this site don't start.", { cause: error });
        }
      }
    }
  }

  return async (environmentId, request, asking) => {
    const write: Write = (work) => uploadWrites.run(environmentId, work);
    const body = request.body === null ? null : await readBody(request.body, folder, write);
    try {
      return await run(asking, request, body);
    } finally {
      await body?.close();
    }
  };
}

async function readBody(body: Readable, folder: string, write: Write): Promise<SpooledBody> {
  return spool(body, folder, write).catch((cause: unknown) => {
    throw new NoAnswer("unavailable", "The request's body did not arrive completely.", { cause });
  });
}

function headOf(request: PhpRequest, allowed: Pick<RequestHead, "diskLeftBytes" | "maySendMail">): RequestHead {
  const { method, url, script, pathInfo, headers, remoteAddress, https, isReadOnly = false, task = null } = request;
  return { method, url, script, pathInfo, headers, remoteAddress, https, isReadOnly, task, ...allowed };
}
