/**
 * The slots of all environments' php-fpm: each runs one request at a time. Environments that are served differently, such as two
 * releases of one site, have masters of their own. A master starts with the first slot that is taken, and ends with the last one.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { ownerOf } from "../owner.ts";
import { databaseFolder, internalFolder, memoryFolder, packageSourceFile, platformFolder } from "../phpFolders.ts";
import { disabledFunctions, functionsReplacedBy, phpSettings, uploadSettings } from "../phpSettings.ts";
import { limitsOf } from "../pool/limits.ts";
import type { ServedEnvironment, UploadLimits } from "../serving.ts";
import { databaseFile, plainDatabaseFile } from "../sqlite/databaseFiles.ts";
import { environmentLimitsOf } from "./environmentLimits.ts";
import { environmentMounts } from "./environmentMounts.ts";
import type { FastCgiConnection } from "./fastcgi/connection.ts";
import { FpmMaster } from "./fpmMaster.ts";
import { type MessageSocket, openMessageSocket } from "./messageSocket.ts";
import type { Mount, Sandbox } from "./sandbox.ts";

/** An installation of PHP on this machine. */
export interface PhpProgram {
  /** Folder whose `/usr` has it; `/` is the machine's own. */
  readonly root: string;
  /** Path of php-fpm below the root. */
  readonly fpm: string;
  /** Path of PHP for the command line below the root. */
  readonly php: string;
}

export interface SlotsOptions {
  /** Folder of the asset store. */
  readonly assets: string;
  readonly environments: string;
  /** Folder for sockets, which is closed to others. Its path is short: those of sockets may have 107 bytes. */
  readonly run: string;
  /** Returns the installation of a version such as `8.2`. Throws if there is none. */
  readonly phpOf: (version: string) => PhpProgram;
  /** URL of the package source; null: none. */
  readonly packageSource: string | null;
  /** Absent: PHP's own defaults. */
  readonly uploads?: UploadLimits | undefined;
  /** Receives each line that php-fpm logs about itself. */
  readonly onLog: (line: string) => void;
}

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
}

export interface Slots {
  /** Throws if the environment, its release or its PHP doesn't exist. Rejects if php-fpm does not start. */
  take(environment: ServedEnvironment): Promise<Slot>;
  close(): Promise<void>;
}

interface Started {
  readonly master: FpmMaster;
  readonly messages: readonly MessageSocket[];
  readonly folder: string;
  /** The database's folder on this machine. */
  readonly database: string;
}

interface Environment {
  readonly started: Promise<Started>;
  readonly freeSlots: number[];
  taken: number;
}

const messageFolder = "/run/messages";
/** Beyond the threads: for requests from PHP and background work, and for slots whose child is about to end. */
const extraSlots = 8;
/** The child of a slot without a connection ends after this time. */
const idleSeconds = 10;
const memoryFolderBytes = 256 << 20;
const internalFolderBytes = 16 << 20;
const platformSource = fileURLToPath(new URL("../platform", import.meta.url));

export function createSlots(options: SlotsOptions): Slots {
  const environments = new Map<string, Environment>();

  function start(environment: ServedEnvironment, key: string): Environment {
    const php = options.phpOf(environment.phpVersion);
    const mounts = environmentMounts(environment, options);
    const slots = limitsOf(environment).threads + extraSlots;
    const started = startMaster(environment, { php, mounts, slots }, options);
    const made: Environment = { started, freeSlots: Array.from({ length: slots }, (_, slot) => slot), taken: 0 };
    environments.set(key, made);
    const forget = () => {
      if (environments.get(key) === made) environments.delete(key);
    };
    started.then(({ master }) => master.exited.then(forget), forget);
    return made;
  }

  async function end(key: string, environment: Environment): Promise<void> {
    if (environments.get(key) === environment) environments.delete(key);
    const { master, messages, folder } = await environment.started;
    master.kill();
    await master.exited;
    for (const socket of messages) socket.close();
    await rm(folder, { recursive: true, force: true });
  }

  return {
    take(served) {
      const key = keyOf(served);
      const existing = environments.get(key);
      const environment = existing !== undefined && existing.freeSlots.length > 0 ? existing : start(served, key);
      const slot = environment.freeSlots.shift() ?? 0;
      environment.taken += 1;
      const give = () => {
        environment.taken -= 1;
        environment.freeSlots.push(slot);
        return environment.taken === 0 ? end(key, environment).catch(() => undefined) : Promise.resolve();
      };
      return environment.started.then(
        (started) => slotOf(started, slot, give),
        async (error) => {
          await give();
          throw error;
        },
      );
    },
    close: async () => {
      await Promise.allSettled([...environments].map(([key, environment]) => end(key, environment)));
    },
  };
}

function keyOf(environment: ServedEnvironment): string {
  const { id, release, phpVersion, documentRoot, isOffline = false, phpRestarts = 0 } = environment;
  const { threads, memoryMb } = limitsOf(environment);
  return JSON.stringify([id, release, phpVersion, documentRoot, isOffline, phpRestarts, threads, memoryMb]);
}

function slotOf({ master, messages, database }: Started, slot: number, give: () => Promise<void>): Slot {
  const socket = messages[slot];
  if (socket === undefined) throw new Error(`There is no slot ${slot}.`);
  const files = [databaseFile, plainDatabaseFile].map((name) => path.join(database, name));
  return {
    connect: () => master.connect(slot),
    pid: () => master.pidOf(slot),
    kill: () => master.killSlot(slot),
    free: async () => {
      await master.slotEnded(slot);
      socket.setReceiver(async () => "");
      await give();
    },
    messages: socket,
    messageSocketPath: `${messageFolder}/${slot}`,
    databaseState: async () => {
      const facts = await Promise.all(files.map((file) => stat(file, { bigint: true }).catch(() => null)));
      return facts.map((one) => (one === null ? "" : `${one.ino} ${one.size} ${one.mtimeNs}`)).join();
    },
  };
}

interface MasterParts {
  readonly php: PhpProgram;
  readonly mounts: readonly Mount[];
  readonly slots: number;
}

async function startMaster(
  environment: ServedEnvironment,
  { php, mounts, slots }: MasterParts,
  options: SlotsOptions,
): Promise<Started> {
  mkdirSync(options.run, { recursive: true, mode: 0o700 });
  const folder = path.join(options.run, randomBytes(4).toString("hex"));
  try {
    const [messageSockets, packageSource] = [path.join(folder, "m"), path.join(folder, "source.json")];
    await mkdir(messageSockets, { recursive: true, mode: 0o755 });
    await writeFile(packageSource, JSON.stringify(options.packageSource), { mode: 0o644 });
    const messages = await Promise.all(
      Array.from({ length: slots }, (_, slot) => openMessageSocket(path.join(messageSockets, String(slot)))),
    );
    const sandbox: Sandbox = {
      user: ownerOf(environment.number),
      root: php.root,
      mounts: [
        ...mounts,
        { from: platformSource, to: platformFolder, isWritable: false },
        { from: packageSource, to: packageSourceFile, isWritable: false },
        { from: messageSockets, to: messageFolder, isWritable: false },
      ],
      memoryFolders: [
        { path: memoryFolder, maxBytes: memoryFolderBytes },
        { path: internalFolder, maxBytes: internalFolderBytes },
      ],
      limits: environmentLimitsOf(environment),
      isOffline: environment.isOffline ?? false,
    };
    const master = await FpmMaster.start({
      sandbox,
      program: php.fpm,
      folder,
      slots,
      idleSeconds,
      ...settingsOf(php, limitsOf(environment).memoryMb, options.uploads),
      onLog: options.onLog,
    });
    const database = mounts.find(({ to }) => to === databaseFolder)?.from ?? "";
    return { master, messages, folder, database };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function settingsOf(php: PhpProgram, memoryMb: number, uploads: UploadLimits | undefined) {
  return {
    defaults: {
      ...phpSettings,
      ...(uploads && uploadSettings(uploads)),
      // The site's own settings are the same with every engine.
      "user_ini.filename": "",
      "cgi.fix_pathinfo": 0,
      disable_functions: [...disabledFunctions, ...functionsReplacedBy("mysqli")].join(","),
      auto_prepend_file: `${platformFolder}/fpm.php`,
    },
    settings: { memory_limit: `${memoryMb}M` },
    slotSettings: (slot: number) => ({
      sendmail_path: `${php.php} -n ${platformFolder}/sendmail.php ${messageFolder}/${slot} -t -i`,
    }),
  };
}
