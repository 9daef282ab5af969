/** One start of the virtual machine, until its power is cut. */
import { readFile } from "node:fs/promises";
import { type MachineOptions, startMachine } from "./machine.ts";
import type { PowerCut } from "./volatileDisk.ts";

/** When the power is cut. */
export interface CutMoment {
  /** After this many stored rows and files, once all writers run. */
  readonly rows: number;
  /** And then after this time; absent: at once. */
  readonly milliseconds?: number;
  /** And then after this many writes to the disk. */
  readonly diskWrites?: number;
}

interface Cycle {
  readonly machine: Omit<MachineOptions, "variables" | "onLine">;
  /** Parameters of the first program (`images.ts`). */
  readonly variables: MachineOptions["variables"];
  /** Null: when the content has been checked. */
  readonly moment: CutMoment | null;
  /** Sets the function that is called after each write to the disk. */
  readonly listenToDisk: (listener: () => void) => void;
  readonly cutPower: () => PowerCut;
}

/** The machine's reports. */
export interface Told {
  /** Rows and versions of files, of earlier cycles and perhaps some of this one. */
  readonly found: Set<string>;
  readonly stored: string[];
  readonly damage: string[];
  settings: string;
  /** The items that were checked. */
  readonly checked: Set<string>;
}

/** Of the rows, and of the files. */
const checks = 2;
const deadlineMilliseconds = 300_000;

/** The machine could not be used, as it is after damage. */
export class MachineFailure extends Error {
  override readonly name = "MachineFailure";
}

/** Rejects with `MachineFailure` if something in the machine fails. */
export async function runUntilCut(cycle: Cycle): Promise<{ readonly told: Told; readonly cut: PowerCut }> {
  const { moment } = cycle;
  const told: Told = { found: new Set(), stored: [], damage: [], settings: "", checked: new Set() };
  const result = Promise.withResolvers<PowerCut>();
  let [isArmed, isDone] = [false, false];
  let storedBefore: number | null = null;
  const cut = () => {
    if (isDone) return;
    isDone = true;
    result.resolve(cycle.cutPower());
    machine.kill();
  };
  const onLine = (line: string) => {
    if (isDone) return;
    try {
      note(line, told, moment === null);
    } catch (error) {
      result.reject(error);
    }
    if (told.checked.size < checks || isArmed) return;
    // All writers run now; some have begun earlier.
    storedBefore ??= told.stored.length;
    if (told.stored.length - storedBefore < (moment?.rows ?? 0)) return;
    isArmed = true;
    if (moment?.diskWrites !== undefined) cycle.listenToDisk(countdown(moment.diskWrites, cut));
    else if (moment?.milliseconds !== undefined) setTimeout(cut, moment.milliseconds);
    else cut();
  };
  const machine = startMachine({ ...cycle.machine, variables: cycle.variables, onLine });
  const fail = (sentence: string) => result.reject(new Error(sentence));
  const timer = setTimeout(() => fail("The virtual machine did not get to its power cut."), deadlineMilliseconds);
  const stopped = machine.stopped.then((errors) => fail(`The virtual machine has stopped. ${errors}`));
  try {
    return { told, cut: await result.promise };
  } catch (error) {
    const printed = await readFile(cycle.machine.consoleFile, "utf8").catch(() => "");
    const reason = error instanceof Error ? error.message : String(error);
    throw new MachineFailure(`${reason} The virtual machine printed: ${printed.slice(0, 1000)}`, { cause: error });
  } finally {
    clearTimeout(timer);
    cycle.listenToDisk(() => undefined);
    machine.kill();
    await stopped;
  }
}

/** Returns a function whose call number `calls` calls `then`. */
function countdown(calls: number, then: () => void): () => void {
  let left = calls;
  return () => {
    left -= 1;
    if (left === 0) then();
  };
}

/** Throws if the machine is not as it must be. */
function note(line: string, told: Told, isOnlyChecking: boolean): void {
  const [word = ""] = line.split(" ");
  const rest = line.slice(word.length + 1);
  if (word === "found") told.found.add(rest);
  else if (word === "stored") told.stored.push(rest);
  else if (word === "settings") told.settings = rest;
  else if (word === "checked") told.checked.add(rest);
  else if (word === "changed" || word === "damaged" || (word === "integrity" && rest !== "ok")) told.damage.push(line);
  else if (word === "ended" && !(isOnlyChecking && told.checked.has(rest)))
    throw new Error(`A program that writes ${rest} has ended.`);
  else if (word === "cache" && rest !== "write back, fua 0")
    throw new Error(`The virtual machine's disk is not one with a volatile cache and flushes alone: ${rest}.`);
}
