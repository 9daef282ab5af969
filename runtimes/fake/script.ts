/**
 * Faults that a test injects into a fake runtime. They are stored in a file, because the process that fails may differ
 * from the test's, and may be killed while it fails.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { exists } from "../folders.ts";
import { type Runtime, RuntimeFailure } from "../runtime.ts";

/**
 * Every method except `capabilities`. `layout` has only the point `before`; only methods that build something have
 * `middle`.
 */
export type ScriptedMethod = Exclude<keyof Runtime, "name" | "capabilities">;

export interface Fault {
  readonly method: ScriptedMethod;
  /** Only for this environment; absent: for all. */
  readonly environmentId?: string;
  /** How much of its work the method has done: nothing, a part (if it has parts), or everything. */
  readonly when: "before" | "middle" | "after";
  /**
   * `fail` rejects with `RuntimeFailure`, `break` with an ordinary error, `hang` never settles, `slow` waits
   * `milliseconds`, `wait` waits until the file `until` exists.
   */
  readonly kind: "fail" | "break" | "hang" | "slow" | "wait";
  readonly message?: string;
  readonly milliseconds?: number;
  readonly until?: string;
  /** How often; absent: always. */
  readonly times?: number;
}

export interface Call {
  readonly method: ScriptedMethod;
  readonly environmentId: string | null;
  readonly when: Fault["when"];
}

export interface Script {
  /** Replaces all faults, for every process that shares the folder. */
  setFaults(faults: readonly Fault[]): Promise<void>;
  /** Returns the calls of all processes in order, one entry for each point reached. */
  calls(): Promise<readonly Call[]>;
  /** Called by the fake at each point; applies the faults. */
  reach(call: Call): Promise<void>;
}

function isFault(value: unknown): value is Fault {
  return typeof value === "object" && value !== null && "method" in value && "kind" in value && "when" in value;
}

function isCall(value: unknown): value is Call {
  return typeof value === "object" && value !== null && "method" in value && "environmentId" in value;
}

async function waitForFile(file: string): Promise<void> {
  while (!(await exists(file))) await delay(5);
}

/** These small files are read and written thousands of times: waiting for threads takes longer than the work. */
function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

export function openScript(folder: string): Script {
  const faultsFile = path.join(folder, "faults.json");
  const callsFile = path.join(folder, "calls.jsonl");

  function faults(): readonly Fault[] {
    const text = readText(faultsFile);
    const parsed: unknown = text === "" ? [] : JSON.parse(text);
    return Array.isArray(parsed) ? parsed.filter(isFault) : [];
  }

  async function calls(): Promise<readonly Call[]> {
    const lines = readText(callsFile)
      .split("\n")
      .filter((line) => line !== "");
    return lines.map((line): unknown => JSON.parse(line)).filter(isCall);
  }

  async function setFaults(next: readonly Fault[]): Promise<void> {
    mkdirSync(folder, { recursive: true });
    const temporary = `${faultsFile}.${process.pid}`;
    writeFileSync(temporary, JSON.stringify(next));
    renameSync(temporary, faultsFile);
  }

  async function take(call: Call): Promise<Fault | undefined> {
    const all = faults();
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
    mkdirSync(folder, { recursive: true });
    appendFileSync(callsFile, `${JSON.stringify(call)}\n`);
    const fault = await take(call);
    if (fault === undefined) return;
    const message = fault.message ?? `The fake was told to fail at ${call.method}.`;
    if (fault.kind === "fail") throw new RuntimeFailure(message);
    if (fault.kind === "break") throw new Error(message);
    if (fault.kind === "slow") await delay(fault.milliseconds ?? 100);
    else if (fault.kind === "wait") await waitForFile(fault.until ?? "");
    else await new Promise<never>(() => setInterval(() => undefined, 60_000));
  }

  return { setFaults, calls, reach };
}
