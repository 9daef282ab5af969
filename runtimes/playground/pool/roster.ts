/** The workers that have an environment: starts them, ends them, and makes room for new ones. */
import { NoAnswer, type ServedEnvironment } from "../../serving.ts";
import type { WorkerProcess } from "../worker/process.ts";
import type { Member } from "./member.ts";

export interface RosterOptions {
  /** Starts a worker for the environment; for visitors, uses a suitable spare if there is one. */
  start(environment: ServedEnvironment, isBackground: boolean): WorkerProcess;
  /** Called before a worker is ended, and when it has finished a request. */
  onRest?(member: Member): void;
}

interface Roster {
  all(): readonly Member[];
  /** Starts a worker, which is busy from the beginning. Throws `NoAnswer`. */
  start(environment: ServedEnvironment, isBackground: boolean): Member;
  end(member: Member): void;
  /** Makes room for one more worker by ending idle ones if necessary; false if that is not enough. */
  makeRoom(allowed: number): boolean;
}

/** Whether the worker counts towards the maximum. Background workers don't. */
export const countsTowardsMaximum = (member: Member): boolean => !member.isInBackground;

/** Creates the roster. `onExit` is called when a worker's process is gone. */
export function createRoster(options: RosterOptions, onExit: () => void): Roster {
  let members: readonly Member[] = [];

  function remove(member: Member): void {
    members = members.filter((other) => other !== member);
  }

  function startWorker(environment: ServedEnvironment, isBackground: boolean): WorkerProcess {
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
    makeRoom: (allowed) => {
      const idlest = members
        .filter((member) => !member.isBusy)
        .toSorted((a, b) => Number(a.hasVisitors) - Number(b.hasVisitors) || a.worker.lastUsed - b.worker.lastUsed);
      const surplus = members.filter(countsTowardsMaximum).length + 1 - allowed;
      if (surplus > idlest.length) return false;
      for (const member of idlest.slice(0, Math.max(0, surplus))) end(member);
      return true;
    },
  };
}
