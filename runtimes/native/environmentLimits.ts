/** How much an environment's programs may use together: php-fpm of each of its releases, WP-CLI, and what these start. */
import { limitsOf } from "../pool/limits.ts";
import { companyOf } from "../pool/shares.ts";
import type { ServedEnvironment } from "../serving.ts";
import type { SandboxLimits } from "./sandbox.ts";

const megabyte = 1_048_576;
/** Opcodes, files in memory, the masters and a trial. */
const sharedBytes = 512 * megabyte;
/** Of PHP itself and its extensions, for each request. */
const requestBytes = 64 * megabyte;
/** Requests beyond the threads: from PHP itself, background work and WP-CLI. */
const extraRequests = 4;
/** Of each request, with the threads that look up names. */
const requestProcesses = 16;

export function environmentLimitsOf(
  environment: Pick<ServedEnvironment, "id" | "companyId" | "limits">,
): SandboxLimits {
  const { threads, memoryMb } = limitsOf(environment);
  const requests = threads + extraRequests;
  return {
    environmentId: environment.id,
    companyId: companyOf(environment),
    memoryBytes: sharedBytes + requests * (memoryMb * megabyte + requestBytes),
    processes: requests * requestProcesses,
    fileBytes: null,
  };
}
