/** How much memory processes may use that run PHP for a site or read its files. */
import type { RuntimeName } from "./runtimeNames.ts";

const megabyte = 1_048_576;

/** PHP's memory limit. */
export const defaultMemoryMb = 256;

/** Memory of a worker without PHP's data, and of one that is still booting. With php-fpm, much of it is shared. */
const restingBytes: Readonly<Record<RuntimeName, number>> = { playground: 330e6, native: 60e6 };

/** What decides about the memory of an environment's workers. */
interface SizedEnvironment {
  readonly runtime?: string;
}

export function restingBytesOf({ runtime }: SizedEnvironment): number {
  return runtime === "native" ? restingBytes.native : restingBytes.playground;
}

/** The memory that a worker can use at any time. */
export function allocatedBytes(environment: SizedEnvironment, memoryMb: number): number {
  return restingBytesOf(environment) + memoryMb * megabyte;
}

/**
 * Memory limit of a worker process, at which it is killed even during a response, however much memory is free. A script can
 * lift PHP's own limit, but not this one: PHP's limit plus room for several copies of an upload and a response that is read
 * slowly.
 */
export function maxProcessBytes(memoryMb: number): number {
  return 700e6 + 3 * memoryMb * megabyte;
}
