/** The workers that have an environment: started, ended, and ended to make room for others. */
import { NoAnswer, type ServedEnvironment } from "../../serving.ts";
import type { WorkerProcess } from "../worker/process.ts";
import type { Member } from "./member.ts";

export interface RosterOptions {
  /** Starts a worker for the environment; for visitors from a spare, if there is a fitting one. */
  start(environment: ServedEnvironment, isBackground: boolean): WorkerProcess;
  /** Told before a worker is ended, and when one has done what it was asked. */
  rests?(member: Member): void;
}

export interface Roster {
  all(): readonly Member[];
  /** Busy from the beginning. Throws `NoAnswer`. */
  start(environment: ServedEnvironment, isBackground: boolean): Member;
  end(member: Member): void;
  /** Makes room for one more worker, if need be at the cost of idle ones; false if there is none. */
  makeRoom(allowed: number): boolean;
}

/** Whether it takes a visitor's place: those at work in the background have one above the maximum. */
export const takesPlace = (member: Member): boolean => !member.isInBackground;

/** `left` is told when a worker's process is gone. */
export function createRoster(options: RosterOptions, left: () => void): Roster {
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
    options.rests?.(member);
    remove(member);
    member.worker.kill("unavailable");
  }

  return {
    all: () => members,
    start: (environment, isBackground) => {
      const worker = startWorker(environment, isBackground);
      const flags = { isBusy: true, isForPhp: false, hasVisitors: false, isInBackground: false };
      const member: Member = { worker, environment, ...flags, keptUntil: 0 };
      members = [...members, member];
      void worker.exited.then(() => {
        remove(member);
        left();
      });
      return member;
    },
    end,
    makeRoom: (allowed) => {
      const idlest = members
        .filter((member) => !member.isBusy)
        .toSorted((a, b) => Number(a.hasVisitors) - Number(b.hasVisitors) || a.worker.lastUsed - b.worker.lastUsed);
      const surplus = members.filter(takesPlace).length + 1 - allowed;
      if (surplus > idlest.length) return false;
      for (const member of idlest.slice(0, Math.max(0, surplus))) end(member);
      return true;
    },
  };
}
