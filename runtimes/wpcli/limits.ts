/** What a WP-CLI command may use, and how many run at the same time. */
import { defaultMemoryMb, maxProcessBytes } from "../memoryLimits.ts";
import { machineMemory } from "../processMemory.ts";
import type { WpCliCommand } from "../runtime.ts";
import { createTurns, type Turns } from "../turns.ts";

export interface CommandLimits {
  /** Time limit, from the start of the command. */
  readonly seconds: number;
  /** Maximum size of each output that is kept. */
  readonly maxOutputBytes: number;
  /** Size of both outputs together at which the command is killed. */
  readonly killOutputBytes: number;
  readonly memoryBytes: number;
}

/** A command uses as much memory as a worker; an eighth of the machine's memory, or a container's, is for commands. */
const memoryPerCommand = 400 << 20;
const maxConcurrent = Math.min(8, Math.max(2, Math.floor(machineMemory() / 8 / memoryPerCommand)));

/** The memory that the limit of a command's process follows from; PHP itself has none. It leaves at least enough for WP-CLI itself. */
export function memoryMbOf({ memoryMb = 0 }: WpCliCommand): number {
  return Math.max(defaultMemoryMb, memoryMb);
}

export function limitsOfCommand(command: WpCliCommand): CommandLimits {
  return {
    seconds: command.seconds,
    maxOutputBytes: 256 << 10,
    killOutputBytes: 64 << 20,
    memoryBytes: maxProcessBytes(memoryMbOf(command)),
  };
}

/** Returns the turns that companies take. */
export function createCommandTurns(): Turns {
  return createTurns({ total: maxConcurrent, perParty: maxConcurrent - 1, extra: Math.ceil(maxConcurrent / 2) });
}
