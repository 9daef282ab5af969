import { totalmem } from "node:os";

/** Memory that this process may use, in bytes: the machine's, or a container's limit. */
export function machineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(totalmem(), limit) : totalmem();
}
