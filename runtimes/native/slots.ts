/**
 * The slots of all environments' php-fpm: each runs one request at a time. Environments that are served differently, such as two
 * releases of one site, have masters of their own. A master starts with the first slot that is taken, and ends with the last one.
 */

import { memoryFolder } from "../phpFolders.ts";
import { limitsOf } from "../pool/limits.ts";
import type { ServedEnvironment } from "../serving.ts";
import { type EnvironmentFpmOptions, fpmSettings, opcodeJobOf, startFpm } from "./environmentFpm.ts";
import {
  type EnvironmentSandbox,
  messageSocketPath,
  openEnvironmentSandbox,
  type Protection,
} from "./environmentSandbox.ts";
import type { FastCgiConnection } from "./fastcgi/connection.ts";
import type { FpmMaster } from "./fpmMaster.ts";
import type { MessageSocket } from "./messageSocket.ts";
import type { OpcodeStore } from "./opcodes/store.ts";
import type { UseReadOnlyPhp } from "./readOnly.ts";
import { createReadOnlyPhp, type ReadOnlyPhpOfEnvironment } from "./readOnlyPhp.ts";

export interface Slot {
  /** Its child belongs to the connection until that is closed. */
  connect(): FastCgiConnection;
  /** The id of its child, or null if it has none at the moment. */
  pid(): number | null;
  /** Kills its child, in the middle of a script. */
  kill(): void;
  /** After its child was killed or has died. Resolves when the next connection gets another child: with whether there should be one. */
  renew(): Promise<boolean>;
  /** From now on, its php-fpm gets no more workers. */
  retire(): void;
  /** Resolves when its php-fpm has ended. */
  readonly ended: Promise<void>;
  /** Gives it back. Resolves when its child is gone: after `kill` soon, otherwise when it has been idle. */
  free(): Promise<void>;
  readonly messages: MessageSocket;
  /** Path of the socket for messages in the sandbox. */
  readonly messageSocketPath: string;
  /** A text that changes whenever the environment's database does. */
  databaseState(): string;
  /** For read-only requests. */
  readonly readOnly: Readonly<Record<Protection, UseReadOnlyPhp>>;
}

export interface Slots {
  /** Throws if the environment, its release or its PHP doesn't exist. Rejects if php-fpm does not start. */
  take(environment: ServedEnvironment): Promise<Slot>;
  close(): Promise<void>;
}

interface Started {
  readonly master: FpmMaster;
  readonly place: EnvironmentSandbox;
  readonly readOnly: Readonly<Record<Protection, ReadOnlyPhpOfEnvironment>>;
}

interface Environment {
  readonly started: Promise<Started>;
  readonly freeSlots: number[];
  taken: number;
}

/** Beyond the threads: for requests from PHP and background work, and for slots whose child is about to end. */
const extraSlots = 8;
/**
 * Of the folder for uploads, in which scripts that were killed leave theirs. If it is fuller, new workers get a new php-fpm with an
 * empty folder.
 */
const mostUsedMemory = 0.5;

interface SlotsOptions extends EnvironmentFpmOptions {
  readonly opcodes: OpcodeStore;
}

export function createSlots(options: SlotsOptions): Slots {
  const environments = new Map<string, Environment>();
  /** All environments whose php-fpm has not ended yet, with their keys; some get no more workers. */
  const unfinished = new Map<Environment, string>();
  const ending = new Set<Promise<void>>();
  options.network?.lost.addEventListener("abort", () => void endAll());

  function start(environment: ServedEnvironment, key: string): Environment {
    const php = options.phpOf(environment.phpVersion);
    const sockets = limitsOf(environment).threads + extraSlots;
    const job = opcodeJobOf(environment, php, options);
    const findOpcodes = async () => (job === null ? null : options.opcodes.find(job));
    const place = openEnvironmentSandbox(
      environment,
      { root: php.root, sockets, opcodes: findOpcodes(), settings: fpmSettings(environment, options.uploads) },
      options,
    );
    const protectedBy = (protection: Protection) =>
      createReadOnlyPhp(environment, php, { ...options, findOpcodes, protection });
    const readOnly = { release: protectedBy("release"), all: protectedBy("all") };
    const started = place.then(async (opened) => {
      return { master: await startFpm(php, opened, options), place: opened, readOnly };
    });
    const made: Environment = { started, freeSlots: Array.from({ length: sockets }, (_, slot) => slot), taken: 0 };
    environments.set(key, made);
    unfinished.set(made, key);
    const forgetThis = () => forget(key, made);
    started.then(({ master }) => master.exited.then(forgetThis), forgetThis);
    return made;
  }

  /** From now on, no worker gets its slots. */
  function forget(key: string, environment: Environment): void {
    if (environments.get(key) === environment) environments.delete(key);
  }

  /** Resolves when nothing of it is left. Never rejects. */
  async function end(key: string, environment: Environment): Promise<void> {
    forget(key, environment);
    const ended = close(environment).catch((error: unknown) => options.onFailure(error));
    ending.add(ended);
    await ended;
    ending.delete(ended);
    unfinished.delete(environment);
  }

  async function close({ started }: Environment): Promise<void> {
    const running = await started.catch(() => null);
    if (running === null) return;
    const { master, place, readOnly } = running;
    await Promise.all([readOnly.release.close(), readOnly.all.close()]);
    master.kill();
    await master.exited;
    await place.close();
  }

  async function endAll(): Promise<void> {
    for (const [environment, key] of unfinished) void end(key, environment);
    await Promise.all(ending);
  }

  function takeFrom(environment: Environment, key: string): Promise<Slot> {
    const slot = environment.freeSlots.shift() ?? 0;
    environment.taken += 1;
    const give = async () => {
      environment.taken -= 1;
      environment.freeSlots.push(slot);
      if (environment.taken === 0) await end(key, environment);
    };
    const dropIfFull = ({ master }: Started) => {
      if (master.usedPartOf(memoryFolder) > mostUsedMemory) forget(key, environment);
    };
    return environment.started.then(
      (started) => {
        const isCurrent = () => environments.get(key) === environment;
        const retire = () => forget(key, environment);
        return slotOf(started, slot, { dropIfFull: () => dropIfFull(started), isCurrent, retire, give });
      },
      async (error) => {
        await give();
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

interface Returning {
  /** Leaves the environment's php-fpm to the present workers if its memory is full. */
  readonly dropIfFull: () => void;
  /** Whether new workers get slots of this php-fpm. */
  readonly isCurrent: () => boolean;
  readonly retire: () => void;
  readonly give: () => Promise<void>;
}

function slotOf({ master, place, readOnly }: Started, slot: number, returning: Returning): Slot {
  const { dropIfFull, isCurrent, retire, give } = returning;
  const messages = place.messages[slot];
  if (messages === undefined) throw new Error(`There is no slot ${slot}.`);
  return {
    connect: () => master.connect(slot),
    pid: () => master.pidOf(slot),
    kill: () => {
      master.killSlot(slot);
      dropIfFull();
    },
    renew: async () => {
      await master.slotEnded(slot);
      dropIfFull();
      return isCurrent();
    },
    retire,
    ended: master.exited,
    free: async () => {
      await master.slotEnded(slot);
      messages.setReceiver(null);
      dropIfFull();
      await give();
    },
    messages,
    messageSocketPath: messageSocketPath(slot),
    databaseState: place.databaseState,
    readOnly: { release: readOnly.release.use, all: readOnly.all.use },
  };
}
