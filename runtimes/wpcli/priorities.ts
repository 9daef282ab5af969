/** The priority of commands, which is lower while their company uses much CPU time. As for workers, see `pool/accounts.ts`. */
import type { ChildProcess } from "node:child_process";
import { createCpuMeter } from "../pool/cpuTime.ts";
import { createLoads } from "../pool/loads.ts";
import { ProcessPriority } from "../pool/priority.ts";
import { shareProcessor } from "../processor/companies.ts";

export interface CommandPriorities {
  /** Adjusts the priority of a process of the company until it exits. */
  watch(company: string, child: ChildProcess): ProcessPriority;
}

const intervalMilliseconds = 500;

interface Command {
  readonly company: string;
  readonly pid: number;
  readonly priority: ProcessPriority;
}

/** `sharesProcessor`: whether to move commands to the control groups of their companies, as far as these exist. */
export function createCommandPriorities({ sharesProcessor }: { readonly sharesProcessor: boolean }): CommandPriorities {
  const commands = new Set<Command>();
  const meter = createCpuMeter();
  const loads = createLoads();

  const timer = setInterval(() => {
    for (const command of commands) loads.add(command.company, meter.measure(command) ?? { used: 0, wanted: 0 });
    loads.update();
    for (const { company, priority } of commands) {
      // Booting is soon done if it is not slowed down.
      if (priority.isYielding) priority.setLoadSteps(loads.stepsOf(company));
    }
  }, intervalMilliseconds);
  timer.unref();

  return {
    watch: (company, child) => {
      const priority = new ProcessPriority(child);
      if (child.pid === undefined) return priority;
      if (sharesProcessor) shareProcessor(company, child.pid);
      const command = { company, pid: child.pid, priority };
      commands.add(command);
      child.once("exit", () => commands.delete(command));
      return priority;
    },
  };
}
