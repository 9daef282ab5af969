/**
 * What a test wants a fake runtime to do wrong. It is a file, because the process that makes the mistake may
 * be another one than the test's, and may be killed while it makes it.
 */
import { appendFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { exists } from "../folders.ts";
import { type Runtime, RuntimeFailure } from "../runtime.ts";

/** Every method but `capabilities`. In `layout` only `when: "before"` is met; `middle` in those that build something. */
export type ScriptedMethod = Exclude<keyof Runtime, "name" | "capabilities">;

export interface Fault {
  readonly method: ScriptedMethod;
  /** Only for this environment; every one where it is left out. */
  readonly environmentId?: string;
  /** Whether the method has then done nothing, a part (where it has parts), or all of its work. */
  readonly when: "before" | "middle" | "after";
  /**
   * `fail` rejects with `RuntimeFailure`, `break` with an ordinary error, `hang` never settles, `slow` waits `milliseconds`,
   * `wait` waits until there is a file `until`.
   */
  readonly what: "fail" | "break" | "hang" | "slow" | "wait";
  readonly message?: string;
  readonly milliseconds?: number;
  readonly until?: string;
  /** How often; for ever where it is left out. */
  readonly times?: number;
}

export interface Call {
  readonly method: ScriptedMethod;
  readonly environmentId: string | null;
  readonly when: Fault["when"];
}

export interface Script {
  /** Replaces every fault set before, for every process that shares the folder. */
  setFaults(faults: readonly Fault[]): Promise<void>;
  /** What was called, by whichever process, in order; one entry for each point reached. */
  calls(): Promise<readonly Call[]>;
  /** Called by the fake at each point; does what the faults say. */
  reach(call: Call): Promise<void>;
}

function isFault(value: unknown): value is Fault {
  return typeof value === "object" && value !== null && "method" in value && "what" in value && "when" in value;
}

function isCall(value: unknown): value is Call {
  return typeof value === "object" && value !== null && "method" in value && "environmentId" in value;
}

async function thereIs(file: string): Promise<void> {
  while (!(await exists(file))) await delay(5);
}

async function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch(() => "");
}

export function openScript(folder: string): Script {
  const faultsFile = path.join(folder, "faults.json");
  const callsFile = path.join(folder, "calls.jsonl");

  async function faults(): Promise<readonly Fault[]> {
    const text = await readText(faultsFile);
    const parsed: unknown = text === "" ? [] : JSON.parse(text);
    return Array.isArray(parsed) ? parsed.filter(isFault) : [];
  }

  async function calls(): Promise<readonly Call[]> {
    const lines = (await readText(callsFile)).split("\n").filter((line) => line !== "");
    return lines.map((line): unknown => JSON.parse(line)).filter(isCall);
  }

  async function setFaults(next: readonly Fault[]): Promise<void> {
    await mkdir(folder, { recursive: true });
    const beside = `${faultsFile}.${process.pid}`;
    await writeFile(beside, JSON.stringify(next));
    await rename(beside, faultsFile);
  }

  async function take(call: Call): Promise<Fault | undefined> {
    const all = await faults();
    const found = all.find(
      (fault) =>
        fault.method === call.method &&
        fault.when === call.when &&
        (fault.environmentId ?? call.environmentId) === call.environmentId,
    );
    if (found?.times === undefined) return found;
    const left = { ...found, times: found.times - 1 };
    await setFaults(all.flatMap((fault) => (fault !== found ? [fault] : left.times > 0 ? [left] : [])));
    return found;
  }

  async function reach(call: Call): Promise<void> {
    await mkdir(folder, { recursive: true });
    await appendFile(callsFile, `${JSON.stringify(call)}\n`);
    const fault = await take(call);
    if (fault === undefined) return;
    const message = fault.message ?? `The fake was told to fail at ${call.method}.`;
    if (fault.what === "fail") throw new RuntimeFailure(message);
    if (fault.what === "break") throw new Error(message);
    if (fault.what === "slow") await delay(fault.milliseconds ?? 100);
    else if (fault.what === "wait") await thereIs(fault.until ?? "");
    else await new Promise<never>(() => setInterval(() => undefined, 60_000));
  }

  return { setFaults, calls, reach };
}
