/** One request to PHP: its body is read, a worker is found for it, and what it costs is put to its environment's account. */
import type { Readable } from "node:stream";
import { NoAnswer, type PhpRequest, type PhpResponse } from "../../serving.ts";
import type { RequestHead } from "../worker/frames.ts";
import { type Handling, NeverBegun } from "../worker/process.ts";
import { type Accounts, allowanceOf } from "./accounts.ts";
import { createLanes } from "./lanes.ts";
import { limitsOf } from "./limits.ts";
import type { Member } from "./member.ts";
import { type SpooledBody, spool, type Write } from "./spool.ts";

/** Which worker is asked, and who hears what PHP complains of and sends meanwhile. */
export interface Asking extends Required<Pick<Handling, "onErrorLine" | "mail" | "touched">> {
  readonly acquire: () => Promise<Member>;
  readonly maySendMail: boolean;
}

export interface AskWorkersOptions {
  readonly accounts: Accounts;
  /** Is told when a worker has done what it was asked. */
  readonly release: (member: Member) => void;
  /** Folder for bodies that are too large for the memory. */
  readonly folder: string;
}

/** Rejects with `NoAnswer`. */
export type AskWorkers = (environmentId: string, request: PhpRequest, asking: Asking) => Promise<PhpResponse>;

const startTries = 3;
/** Half of the threads that this process has for its disk: a disk that is busy with one site's uploads has others' files wait. */
const uploadWritesAtOnce = 2;

export function createAskWorkers({ accounts, release, folder }: AskWorkersOptions): AskWorkers {
  const uploadWrites = createLanes(uploadWritesAtOnce);

  /** What the request costs is the account's of the member's environment. */
  function handlingFor(member: Member, request: PhpRequest): Handling {
    const { id } = member.environment;
    const account = accounts.of(id);
    const began = performance.now();
    account.counted.phpRequests += 1;
    return {
      deadlineSeconds: request.deadlineSeconds ?? limitsOf(member.environment).requestSeconds,
      grown: (bytes) => {
        account.grown.bytes += bytes;
      },
      outOfTime: () => {
        account.counted.killedForTime += 1;
      },
      finished: (hasWritten) => {
        account.counted.phpMilliseconds += performance.now() - began;
        if (hasWritten) account.counted.writes += 1;
        release(member);
      },
    };
  }

  /** A worker that died unnoticed is found out by the next request, which then goes to another one. */
  async function run({ acquire, maySendMail, ...heard }: Asking, request: PhpRequest, body: SpooledBody | null) {
    for (let tried = 1; ; tried += 1) {
      try {
        const member = await acquire();
        const head = headOf(request, { diskLeftBytes: allowanceOf(accounts, member), maySendMail });
        return await member.worker.handle(head, body, { ...handlingFor(member, request), ...heard });
      } catch (error) {
        if (!(error instanceof NeverBegun)) throw error;
        if (tried === startTries) {
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
    throw new NoAnswer("unavailable", "The request's body did not arrive.", { cause });
  });
}

function headOf(request: PhpRequest, allowed: Pick<RequestHead, "diskLeftBytes" | "maySendMail">): RequestHead {
  const { method, url, script, pathInfo, headers, remoteAddress, https, isReadOnly = false, task = null } = request;
  return { method, url, script, pathInfo, headers, remoteAddress, https, isReadOnly, task, ...allowed };
}
