/** The serving side of the native runtime: runs PHP in php-fpm, one master for each environment. */
import { createPoolServing, type PoolServing, type PoolServingOptions } from "../pool/serving.ts";
import type { Serving } from "../serving.ts";
import type { EnvironmentFpmOptions } from "./environmentFpm.ts";
import { createSlots } from "./slots.ts";
import { FpmWorker } from "./worker.ts";

export interface NativeServingOptions extends PoolServingOptions, EnvironmentFpmOptions {
  /** How much of the disk PHP must leave free. Absent: nothing. */
  readonly diskReserveBytes?: number;
}

interface NativeStatus extends ReturnType<PoolServing["status"]> {
  readonly readyWorkers: number;
  readonly machinery: Readonly<Record<string, never>>;
}

export interface NativeServing extends Serving {
  status(): NativeStatus;
}

export function createNativeServing(options: NativeServingOptions): NativeServing {
  const slots = createSlots(options);
  const reserve = { folder: options.environments, bytes: options.diskReserveBytes ?? 0 };
  const pool = createPoolServing(
    options,
    (environment) => new FpmWorker(slots.take(environment), options.requestDeadlineSeconds, reserve),
  );
  return {
    setEnvironments: pool.setEnvironments,
    handle: pool.handle,
    runTrial: pool.runTrial,
    usage: pool.usage,
    close: async () => {
      await pool.close();
      await slots.close();
    },
    status: () => ({ ...pool.status(), readyWorkers: 0, machinery: {} }),
  };
}
