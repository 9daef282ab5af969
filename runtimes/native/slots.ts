/**
 * The slots of all environments' php-fpm: each runs one request at a time. Environments that are served differently, such as two
 * releases of one site, have masters of their own. A master starts with the first slot that is taken, and ends with the last one.
 */

import { limitsOf } from "../pool/limits.ts";
import type { ServedEnvironment } from "../serving.ts";
import { type FpmOptions, fpmSettings, startFpm } from "./environmentFpm.ts";
import { type EnvironmentSandbox, messageSocketPath, openEnvironmentSandbox } from "./environmentSandbox.ts";
import type { FastCgiConnection } from "./fastcgi/connection.ts";
import type { FpmMaster } from "./fpmMaster.ts";
import type { MessageSocket } from "./messageSocket.ts";
import type { UseReadOnlyPhp } from "./readOnly.ts";
import { createReadOnlyPhp, type ReadOnlyPhpOfEnvironment } from "./readOnlyPhp.ts";

export interface Slot {
  /** Its child belongs to the connection until that is closed. */
  connect(): FastCgiConnection;
  /** The id of its child, or null if it has none at the moment. */
  pid(): number | null;
  /** Kills its child, in the middle of a script. */
  kill(): void;
  /** Gives it back. Resolves when its child is gone. */
  free(): Promise<void>;
  readonly messages: MessageSocket;
  /** Path of the socket for messages in the sandbox. */
  readonly messageSocketPath: string;
  /** A text that changes whenever the environment's database does. */
  databaseState(): Promise<string>;
  /** For read-only requests. */
  readonly readOnly: UseReadOnlyPhp;
}

export interface Slots {
  /** Throws if the environment, its release or its PHP doesn't exist. Rejects if php-fpm does not start. */
  take(environment: ServedEnvironment): Promise<Slot>;
  close(): Promise<void>;
}

interface Started {
  readonly master: FpmMaster;
  readonly place: EnvironmentSandbox;
  readonly readOnly: ReadOnlyPhpOfEnvironment;
}

interface Environment {
  readonly started: Promise<Started>;
  readonly freeSlots: number[];
  taken: number;
}

/** Beyond the threads: for requests from PHP and background work, and for slots whose child is about to end. */
const extraSlots = 8;

export function createSlots(options: FpmOptions): Slots {
  const environments = new Map<string, Environment>();
  options.network?.lost.addEventListener("abort", () => void endAll());

  function start(environment: ServedEnvironment, key: string): Environment {
    const php = options.phpOf(environment.phpVersion);
    const sockets = limitsOf(environment).threads + extraSlots;
    const place = openEnvironmentSandbox(
      environment,
      { root: php.root, sockets, settings: fpmSettings(environment, options.uploads) },
      options,
    );
    const readOnly = createReadOnlyPhp(environment, php, options);
    const started = place.then(async (opened) => {
      return { master: await startFpm(php, opened, options), place: opened, readOnly };
    });
    const made: Environment = { started, freeSlots: Array.from({ length: sockets }, (_, slot) => slot), taken: 0 };
    environments.set(key, made);
    const forget = () => {
      if (environments.get(key) === made) environments.delete(key);
    };
    started.then(({ master }) => master.exited.then(forget), forget);
    return made;
  }

  async function end(key: string, environment: Environment): Promise<void> {
    if (environments.get(key) === environment) environments.delete(key);
    const { master, place, readOnly } = await environment.started;
    await readOnly.close();
    master.kill();
    await master.exited;
    await place.close();
  }

  async function endAll(): Promise<void> {
    await Promise.allSettled([...environments].map(([key, environment]) => end(key, environment)));
  }

  function takeFrom(environment: Environment, key: string): Promise<Slot> {
    const slot = environment.freeSlots.shift() ?? 0;
    environment.taken += 1;
    const give = async () => {
      environment.taken -= 1;
      environment.freeSlots.push(slot);
      if (environment.taken === 0) await end(key, environment);
    };
    return environment.started.then(
      (started) => slotOf(started, slot, give),
      async (error) => {
        await give().catch(() => undefined);
        throw error;
      },
    );
  }

  return {
    take(served) {
      const key = keyOf(served);
      const existing = environments.get(key);
      const hasFree = existing !== undefined && existing.freeSlots.length > 0;
      return takeFrom(hasFree ? existing : start(served, key), key);
    },
    close: endAll,
  };
}

function keyOf(environment: ServedEnvironment): string {
  const { id, release, phpVersion, documentRoot, isOffline = false, phpRestarts = 0 } = environment;
  const { threads, memoryMb } = limitsOf(environment);
  return JSON.stringify([id, release, phpVersion, documentRoot, isOffline, phpRestarts, threads, memoryMb]);
}

function slotOf({ master, place, readOnly }: Started, slot: number, give: () => Promise<void>): Slot {
  const messages = place.messages[slot];
  if (messages === undefined) throw new Error(`There is no slot ${slot}.`);
  return {
    connect: () => master.connect(slot),
    pid: () => master.pidOf(slot),
    kill: () => master.killSlot(slot),
    free: async () => {
      await master.slotEnded(slot);
      messages.setReceiver(async () => "");
      await give();
    },
    messages,
    messageSocketPath: messageSocketPath(slot),
    databaseState: place.databaseState,
    readOnly: readOnly.use,
  };
}
