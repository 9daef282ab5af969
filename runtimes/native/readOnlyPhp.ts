/** The php-fpm for an environment's read-only requests. It starts with the first one. */
import path from "node:path";
import { companyOf } from "../pool/shares.ts";
import type { ServedEnvironment } from "../serving.ts";
import { createTurns } from "../turns.ts";
import { hasChangedFiles } from "./changedFiles.ts";
import { type EnvironmentFpmOptions, fpmSettings, startFpm } from "./environmentFpm.ts";
import {
  type EnvironmentSandbox,
  messageSocketPath,
  openEnvironmentSandbox,
  type PhpProgram,
  type Protection,
} from "./environmentSandbox.ts";
import type { FpmMaster } from "./fpmMaster.ts";
import type { Opcodes } from "./opcodes/mountOpcodes.ts";
import type { ReadOnlyPhp, UseReadOnlyPhp } from "./readOnly.ts";

export interface ReadOnlyPhpOfEnvironment {
  readonly use: UseReadOnlyPhp;
  close(): Promise<void>;
}

interface Started {
  readonly master: FpmMaster;
  readonly place: EnvironmentSandbox;
}

export function createReadOnlyPhp(
  environment: ServedEnvironment,
  php: PhpProgram,
  options: EnvironmentFpmOptions & {
    readonly findOpcodes: () => Promise<Opcodes | null>;
    readonly protection: Protection;
  },
): ReadOnlyPhpOfEnvironment {
  const turns = createTurns({ total: 1, extra: 0 });
  let started: Promise<Started> | null = null;
  let isClosed = false;

  async function start(): Promise<Started> {
    const settings = fpmSettings(environment, options.uploads);
    const place = await openEnvironmentSandbox(
      environment,
      { root: php.root, sockets: 1, protection: options.protection, opcodes: options.findOpcodes(), settings },
      options,
    );
    return { master: await startFpm(php, place, options), place };
  }

  /** Starts it unless it runs. */
  function running(): Promise<Started> {
    if (isClosed) return Promise.reject(new Error("The environment's PHP was ended."));
    if (started !== null) return started;
    const starting = start();
    started = starting;
    const forget = () => (started === starting ? stop() : undefined);
    starting
      .then(({ master }) => master.exited)
      .then(forget, forget)
      .catch((error: unknown) => options.onFailure(error));
    return starting;
  }

  async function stop(): Promise<void> {
    const stopping = started;
    started = null;
    const ending = await stopping?.catch(() => null);
    if (ending == null) return;
    ending.master.kill();
    await ending.master.exited;
    await ending.place.close().catch((error: unknown) => options.onFailure(error));
  }

  async function useOnce<T>(work: (php: ReadOnlyPhp) => Promise<T>): Promise<T> {
    const { master, place } = await running();
    let isUsable = true;
    try {
      return await work(
        phpIn(master, place, { environment, heldFolder: options.layers }, () => {
          isUsable = false;
        }),
      );
    } finally {
      if (!isUsable) await stop();
    }
  }

  return {
    use: (work, signal) => turns.run("", () => useOnce(work), signal),
    close: () => {
      isClosed = true;
      return stop();
    },
  };
}

function phpIn(
  master: FpmMaster,
  place: EnvironmentSandbox,
  { environment, heldFolder }: { readonly environment: ServedEnvironment; readonly heldFolder: string },
  makeUnusable: () => void,
): ReadOnlyPhp {
  const [messages] = place.messages;
  const { layer } = place.sandbox;
  if (messages === undefined) throw new Error("There is no socket for messages.");
  return {
    companyId: companyOf(environment),
    connect: () => master.connect(0),
    messages,
    messageSocketPath: messageSocketPath(0),
    heldFolder,
    hasChangedFiles: async () => {
      if (layer === undefined) return false;
      // Nothing may change the layer while it is compared.
      master.killSlot(0);
      await master.slotEnded(0);
      const hasChanged =
        // What can't be compared, such as a path that is too long, was made by a script.
        await hasChangedFiles(path.join(layer.folder, "changes"), environment.documentRoot).catch(() => true);
      if (hasChanged) makeUnusable();
      return hasChanged;
    },
    processes: () => master.scriptProcesses(),
    kill: () => {
      makeUnusable();
      master.kill();
    },
  };
}
