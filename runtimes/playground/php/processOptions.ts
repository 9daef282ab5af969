/** How Node is started in a process that runs PHP for a site. */
import { machineCodeFlags } from "./machineCode.ts";

export interface ProcessOptions {
  readonly execArgv: string[];
  readonly env: NodeJS.ProcessEnv;
}

/** `codeCache`: folder where Node keeps our own code compiled from one process to the next. */
export function processOptions(codeCache: string): ProcessOptions {
  return {
    execArgv: [...machineCodeFlags],
    // The variables of this process hold secrets, the database's address among them: none of them is passed on.
    env: {
      NODE_COMPILE_CACHE: codeCache,
      // PHP's code, 25 MB, is in huge pages then: a fifth of the time that loading it takes is spent on small ones.
      GLIBC_TUNABLES: "glibc.malloc.hugetlb=1",
    },
  };
}
