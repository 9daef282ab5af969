/** Node options for processes that run PHP for a site. */
import { nodeWithoutNewPrivileges } from "../../expendable.ts";
import { machineCodeFlags } from "./machineCode.ts";

interface ProcessOptions {
  readonly execPath: string;
  readonly execArgv: string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Returns the options. `codeCache`: folder in which Node caches our compiled code across processes. */
export function processOptions(codeCache: string): ProcessOptions {
  return {
    ...nodeWithoutNewPrivileges(machineCodeFlags),
    // The server's environment variables contain secrets, such as the database URL, so none are passed on.
    env: {
      NODE_COMPILE_CACHE: codeCache,
      // Puts PHP's 25 MB of code in huge pages: with small ones, loading it takes a quarter longer.
      GLIBC_TUNABLES: "glibc.malloc.hugetlb=1",
    },
  };
}
