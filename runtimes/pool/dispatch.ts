/** Runs one request: gets a worker, and charges the usage to the environment. */
import { NoAnswer, type PhpRequest, type PhpResponse } from "../serving.ts";
import { type Accounts, allowanceOf } from "./accounts.ts";
import { limitsOf } from "./limits.ts";
import type { Member } from "./member.ts";
import { type RequestCallbacks, RequestNotStarted, type WorkerRequest } from "./worker.ts";

/** How to get a worker, and the receivers of PHP's log lines, mail and changed pages. */
interface DispatchOptions extends Required<Pick<RequestCallbacks, "onErrorLine" | "mail" | "onStalePages">> {
  readonly acquire: () => Promise<Member>;
  readonly maySendMail: boolean;
}

interface DispatcherOptions {
  readonly accounts: Accounts;
  /** Called when a worker has finished its request. */
  readonly release: (member: Member) => void;
}

/** Runs a request. Rejects with `NoAnswer`. */
type Dispatch = (request: PhpRequest, asking: DispatchOptions) => Promise<PhpResponse>;

const maxAttempts = 3;

export function createDispatcher({ accounts, release }: DispatcherOptions): Dispatch {
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
  async function run({ acquire, maySendMail, ...receivers }: DispatchOptions, request: PhpRequest) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const member = await acquire();
        const measuredLeftBytes = limitsOf(member.environment).disk?.leftBytes ?? null;
        const head = headOf(request, { diskLeftBytes: allowanceOf(accounts, member), measuredLeftBytes, maySendMail });
        return await member.worker.handle(head, request.body, { ...callbacksFor(member, request), ...receivers });
      } catch (error) {
        if (!(error instanceof RequestNotStarted)) throw error;
        if (attempt === maxAttempts) {
          throw new NoAnswer("crashed", "The workers of this site don't start.", { cause: error });
        }
      }
    }
  }

  return (request, asking) => run(asking, request);
}

type Allowed = Pick<WorkerRequest, "diskLeftBytes" | "measuredLeftBytes" | "maySendMail">;

function headOf(request: PhpRequest, allowed: Allowed): WorkerRequest {
  const { method, url, script, pathInfo, remoteAddress, https, isReadOnly = false, task = null } = request;
  const headers = { ...request.headers, ...request.headersAtStart?.() };
  return { method, url, script, pathInfo, headers, remoteAddress, https, isReadOnly, task, ...allowed };
}
