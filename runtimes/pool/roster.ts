/** The workers that have an environment: starts them, ends them, and makes room for new ones. */
import { restingBytesOf } from "../memoryLimits.ts";
import { NoAnswer, type ServedEnvironment } from "../serving.ts";
import type { Member } from "./member.ts";
import { makeRoomFor, type Room, relieve } from "./memoryBudget.ts";
import { companyOf } from "./shares.ts";
import type { Worker } from "./worker.ts";

export interface RosterOptions {
  readonly maxWorkers: number;
  /** Memory for all workers together. */
  readonly memoryBytes: number;
  /** Called before a busy worker is killed because others need its memory. */
  onMemoryExcess?(member: Member): void;
  /** Starts a worker for the environment; for visitors, uses a suitable spare if there is one. */
  start(environment: ServedEnvironment, isBackground: boolean): Worker;
  /** Called before a worker is ended, and when it has finished a request. */
  onRest?(member: Member): void;
}

interface Roster {
  all(): readonly Member[];
  /** Starts a worker, which is busy from the beginning. Throws `NoAnswer`. */
  start(environment: ServedEnvironment, isBackground: boolean): Member;
  end(member: Member): void;
  /**
   * Makes room for one more worker of the environment, by ending idle ones and killing one above its allocation of memory if
   * necessary; false if that is not enough.
   */
  makeRoom(environment: ServedEnvironment, allowed: number): boolean;
  /** Ends workers if all together use more memory than there is for them. */
  relieveMemory(): void;
}

/** Whether the worker counts towards the maximum. Background workers don't. */
export const countsTowardsMaximum = (member: Member): boolean => !member.isInBackground;

/** Creates the roster. `onExit` is called when a worker's process is gone. */
export function createRoster(options: RosterOptions, onExit: () => void): Roster {
  let members: readonly Member[] = [];

  function remove(member: Member): void {
    members = members.filter((other) => other !== member);
  }

  function startWorker(environment: ServedEnvironment, isBackground: boolean): Worker {
    try {
      const worker = options.start(environment, isBackground);
      if (isBackground) worker.yieldToOthers();
      return worker;
    } catch (cause) {
      throw new NoAnswer("unavailable", "No worker could be started.", { cause });
    }
  }

  function end(member: Member): void {
    options.onRest?.(member);
    remove(member);
    member.worker.kill("unavailable");
  }

  function clear({ ending, killing }: Room<Member>): void {
    for (const member of ending) end(member);
    if (killing === null) return;
    options.onMemoryExcess?.(killing);
    killing.worker.kill("crashed");
  }

  return {
    all: () => members,
    start: (environment, isBackground) => {
      const worker = startWorker(environment, isBackground);
      const flags = { isBusy: true, isForPhp: false, hasVisitors: false, isInBackground: false };
      const member: Member = { worker, environment, ...flags, candidateUntil: 0 };
      members = [...members, member];
      void worker.exited.then(() => {
        remove(member);
        onExit();
      });
      return member;
    },
    end,
    makeRoom: (environment, allowed) => {
      const surplus = members.filter(countsTowardsMaximum).length + 1 - allowed;
      const wanted = {
        company: companyOf(environment),
        restingBytes: restingBytesOf(environment),
        maxWorkers: options.maxWorkers,
        surplus,
        now: performance.now(),
      };
      const room = makeRoomFor(members, wanted, options.memoryBytes);
      if (room !== null) clear(room);
      return room !== null;
    },
    relieveMemory: () => clear(relieve(members, options.memoryBytes)),
  };
}
