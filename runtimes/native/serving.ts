/** The serving side of the native runtime: runs PHP in php-fpm, one master for each environment. */
import path from "node:path";
import type { Engine } from "../pool/engine.ts";
import { createPoolServing, type PoolServing, type PoolServingOptions } from "../pool/serving.ts";
import type { EnvironmentFpmOptions } from "./environmentFpm.ts";
import { createAhead } from "./opcodes/ahead.ts";
import { createOpcodeStore } from "./opcodes/store.ts";
import { createSlots } from "./slots.ts";
import { FpmWorker } from "./worker.ts";

export interface NativeEngineOptions extends EnvironmentFpmOptions, Pick<PoolServingOptions, "requestDeadlineSeconds"> {
  /** How much of the disk PHP must leave free. Absent: nothing. */
  readonly diskReserveBytes?: number;
  /** The PHP version for which WordPress is compiled before the first site. Absent: none. Others follow when sites use them. */
  readonly precompilePhpVersion?: string;
  /** Receives the error if WordPress could not be compiled in advance. Each environment then compiles it itself. */
  readonly onCompileFailure?: (error: unknown) => void;
}

export type NativeServingOptions = NativeEngineOptions & PoolServingOptions;

export type NativeServing = PoolServing;

export function createNativeServing(options: NativeServingOptions): NativeServing {
  return createPoolServing(options, () => createNativeEngine(options));
}

export function createNativeEngine(options: NativeEngineOptions): Engine {
  const onFailure = options.onCompileFailure ?? (() => undefined);
  const opcodes = createOpcodeStore({ folder: path.join(options.assets, "opcodes"), run: options.run, onFailure });
  const ahead = createAhead(opcodes, { ...options, onFailure });
  if (options.precompilePhpVersion !== undefined) void ahead.compileDefault(options.precompilePhpVersion);
  const slots = createSlots({ ...options, opcodes });
  const reserve = { folder: options.environments, bytes: options.diskReserveBytes ?? 0 };
  return {
    start: (environment) => new FpmWorker(slots.take(environment), options.requestDeadlineSeconds, reserve),
    anticipate: ahead.compileFor,
    status: () => ({ preparedWorkers: 0, machinery: {} }),
    close: async () => {
      await Promise.all([slots.close(), opcodes.close()]);
    },
  };
}
