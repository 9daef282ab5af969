/** The serving side of the native runtime: runs PHP in php-fpm, one master for each environment. */
import type { Engine } from "../pool/engine.ts";
import { createPoolServing, type PoolServing, type PoolServingOptions } from "../pool/serving.ts";
import type { EnvironmentFpmOptions } from "./environmentFpm.ts";
import { createSlots } from "./slots.ts";
import { FpmWorker } from "./worker.ts";

export interface NativeEngineOptions extends EnvironmentFpmOptions, Pick<PoolServingOptions, "requestDeadlineSeconds"> {
  /** How much of the disk PHP must leave free. Absent: nothing. */
  readonly diskReserveBytes?: number;
}

export type NativeServingOptions = NativeEngineOptions & PoolServingOptions;

export type NativeServing = PoolServing;

export function createNativeServing(options: NativeServingOptions): NativeServing {
  return createPoolServing(options, () => createNativeEngine(options));
}

export function createNativeEngine(options: NativeEngineOptions): Engine {
  const slots = createSlots(options);
  const reserve = { folder: options.environments, bytes: options.diskReserveBytes ?? 0 };
  return {
    start: (environment) => new FpmWorker(slots.take(environment), options.requestDeadlineSeconds, reserve),
    status: () => ({ readyWorkers: 0, machinery: {} }),
    close: slots.close,
  };
}
