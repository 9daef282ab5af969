/** Starts programs in a sandbox. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { removeEnvironmentGroups } from "../processor/environments.ts";
import { limited } from "./launch.ts";
import { childrenOf, commandLineOf, killIfAlive } from "./processTree.ts";
import { filterDescriptor, type Sandbox, sandboxed } from "./sandbox.ts";
import { systemCallFilter } from "./systemCalls.ts";

/** bubblewrap's process. Killing it kills everything in the sandbox. */
export interface SandboxedProcess extends ChildProcess {
  /** Also has bubblewrap's reasons if the sandbox can't be made. */
  readonly stderr: Readable;
}

type Streams = readonly [stdin: "ignore" | "pipe", stdout: "ignore" | "pipe"];

function hasErrors(child: ChildProcess): child is SandboxedProcess {
  return child.stderr != null;
}

/** The first descriptor in the sandbox of those that a command inherits in addition to its streams. */
export const firstInherited = filterDescriptor + 1;

/**
 * Starts a command. If the sandbox can't be made, the process ends, and its errors say why. `inherited`: descriptors of this process,
 * which have the numbers from `firstInherited` in the sandbox.
 */
export function spawnSandboxed(
  sandbox: Sandbox,
  command: readonly string[],
  streams: Streams,
  inherited: readonly number[] = [],
): SandboxedProcess {
  const { limits } = sandbox;
  const child = spawnWithFilter(limited(limits, sandboxed(sandbox, command)), streams, inherited);
  if (limits !== null) child.once("exit", () => removeEnvironmentGroups(limits));
  return child;
}

/** Starts a command of `sandboxed`, which may be in another command, and gives it the filter of system calls. */
export function spawnWithFilter(
  [program = "", ...parameters]: readonly string[],
  streams: Streams,
  inherited: readonly number[] = [],
): SandboxedProcess {
  const filter = systemCallFilter();
  const child = spawn(program, parameters, {
    stdio: [...streams, "pipe", filter === null ? "ignore" : "pipe", ...inherited],
    env: { PATH: process.env.PATH },
  });
  // It may have failed to start, out of descriptors for example.
  child.on("error", () => undefined);
  if (!hasErrors(child)) throw new Error("The process has no stream for its errors.");
  if (filter !== null) giveFilter(child, filter);
  return child;
}

function giveFilter(child: ChildProcess, filter: Buffer): void {
  const pipe = child.stdio[filterDescriptor];
  if (!pipe || !("end" in pipe)) throw new Error("The process has no stream for its filter.");
  // bubblewrap has ended before it has read the filter. Its own errors say why.
  pipe.on("error", () => undefined);
  pipe.end(filter);
}

/** Kills everything in the sandbox of a bubblewrap, which is still a shell at first. Its first process takes all others with it. */
export function killSandbox({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  const [first] = commandLineOf(pid).startsWith("bwrap ") ? childrenOf(pid) : [];
  killIfAlive(first ?? pid);
}
