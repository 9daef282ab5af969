/** The sandbox of one environment's PHP, with sockets through which the platform's PHP in it sends messages to the server. */
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { chmod, chown, mkdir, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { ownerOf } from "../owner.ts";
import {
  databaseFolder,
  internalFolder,
  memoryFolder,
  packageSourceFile,
  platformFolder,
  siteFolder,
  taskScript,
} from "../phpFolders.ts";
import type { PlatformTask, ServedEnvironment, UploadLimits } from "../serving.ts";
import { databaseFile, plainDatabaseFile } from "../sqlite/databaseFiles.ts";
import { environmentLimitsOf } from "./environmentLimits.ts";
import { environmentMounts } from "./environmentMounts.ts";
import { type MessageSocket, openMessageSocket } from "./messageSocket.ts";
import { mountOpcodes, type Opcodes } from "./opcodes/mountOpcodes.ts";
import { removeFolder } from "./removeFolder.ts";
import type { Mount, Sandbox } from "./sandbox.ts";
import { settingLine } from "./settingLine.ts";

/** An installation of PHP on this machine. */
export interface PhpProgram {
  /** Folder whose `/usr` has it; `/` is the machine's own. */
  readonly root: string;
  /** Path of php-fpm below the root. */
  readonly fpm: string;
  /** Path of PHP for the command line below the root. */
  readonly php: string;
  /** Names of its extensions when it was found, sorted. */
  readonly extensions: readonly string[];
}

/** The network of sandboxes. */
export interface SandboxNetwork {
  /** False: nothing restricts it, so sandboxes have none. */
  readonly isRestricted: () => boolean;
  /** Returns the file that an environment's PHP sees as `/etc/hosts`. */
  readonly hostsFile: (environmentId: string) => Promise<string>;
  /** Aborted when it is no longer restricted: PHP that has it must end at once. */
  readonly lost: AbortSignal;
}

export interface SandboxOptions {
  /** Null: sandboxes have no network. */
  readonly network: SandboxNetwork | null;
  /** Folder of the asset store. */
  readonly assets: string;
  readonly environments: string;
  /** Folder for sockets, which is closed to others. Its path is short: those of sockets may have 107 bytes. */
  readonly run: string;
  /** Folder on a disk for the changes that read-only requests attempt, closed to others. */
  readonly layers: string;
  /** Returns the installation of a version such as `8.2`. Throws if there is none. */
  readonly phpOf: (version: string) => PhpProgram;
  /** URL of the package source; null: none. */
  readonly packageSource: string | null;
  /** Absent: PHP's own defaults. */
  readonly uploads?: UploadLimits | undefined;
}

/** Returns a file of the platform's PHP on this machine. */
export function platformFile(name: string): string {
  return path.join(platformSource, name);
}

/** Returns the name of a task's script in the platform's folder. The file may not exist. */
export function taskFile(task: PlatformTask): string {
  return path.posix.relative(platformFolder, taskScript(task));
}

export type SandboxedEnvironment = Pick<
  ServedEnvironment,
  "id" | "number" | "companyId" | "limits" | "release" | "documentRoot" | "overlays" | "isOffline"
>;

export interface EnvironmentSandbox {
  readonly sandbox: Sandbox;
  readonly messages: readonly MessageSocket[];
  /** Folder on this machine that belongs to this sandbox. */
  readonly folder: string;
  /**
   * A text that changes whenever the environment's database does. Without waiting: the system knows these facts of a file that is in
   * use, and other threads would cost each page more than asking.
   */
  databaseState(): string;
  /** Removes sockets and folder. Call it when no process is left. */
  close(): Promise<void>;
}

const messageFolder = "/run/messages";
/** Uploads of several requests. */
const memoryFolderBytes = 1 << 30;
const internalFolderBytes = 16 << 20;
/** Folder of the platform's PHP on this machine. */
export const platformSource = fileURLToPath(new URL("../platform", import.meta.url));

/** Where PHP finds its settings in the sandbox. */
export const phpSettingsFolder = `${internalFolder}/settings`;

/** Returns the content of a file with settings. Throws if one can't be written to it. */
export function settingsFile(settings: PhpSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${settingLine(name, value)}\n`)
    .join("");
}

/** Returns the path of a socket for messages in the sandbox. */
export function messageSocketPath(index: number): string {
  return `${messageFolder}/${index}`;
}

/** PHP's settings by name. */
export type PhpSettings = Readonly<Record<string, string | number>>;

interface SandboxParts {
  /** In addition to those of its installation, for all PHP in the sandbox. Scripts can change some, as PHP's documentation says. */
  readonly settings: PhpSettings;
  /** As `PhpProgram.root`. */
  readonly root: string;
  /** How many sockets for messages there are. */
  readonly sockets: number;
  /** Shared code that is compiled already. Never rejects. Absent, or null: PHP compiles all code itself. */
  readonly opcodes?: Promise<Opcodes | null>;
  /** Absent: PHP can change everything of the site. */
  readonly protection?: Protection;
}

/**
 * `release`: nothing of the release can be changed; changes of files go to a layer that the site never sees again. `all`: nothing can be
 * written to the disk, not even to a layer.
 */
export type Protection = "release" | "all";

/** Throws at once if the environment or its release doesn't exist. */
export function openEnvironmentSandbox(
  environment: SandboxedEnvironment,
  { root, settings, sockets, opcodes, protection }: SandboxParts,
  options: SandboxOptions,
): Promise<EnvironmentSandbox> {
  const mounts = environmentMounts(environment, options);
  const database = mounts.find(({ to }) => to === databaseFolder)?.from ?? "";
  const files = [databaseFile, plainDatabaseFile].map((name) => path.join(database, name));
  const name = randomBytes(4).toString("hex");
  const folder = path.join(options.run, name);
  const layer = { folder: path.join(options.layers, name) };
  const protectedMounts = protection ? readOnlyMounts(mounts, path.join(layer.folder, "above"), protection) : mounts;
  const [messageSockets, settingsFolder] = [path.join(folder, "m"), path.join(folder, "settings")];
  const packageSource = path.join(folder, "source.json");
  const sandbox: Sandbox = {
    user: ownerOf(environment.number),
    root,
    // The empty path stands for the folder of the installation. PHP that starts itself again finds the settings there, too.
    variables: { PHP_INI_SCAN_DIR: `:${phpSettingsFolder}` },
    ...(protection === "release" && canMountLayers() && { layer }),
    mounts: [
      ...protectedMounts,
      { from: platformSource, to: platformFolder, isWritable: false },
      { from: packageSource, to: packageSourceFile, isWritable: false },
      { from: messageSockets, to: messageFolder, isWritable: false },
      { from: settingsFolder, to: phpSettingsFolder, isWritable: false },
    ],
    memoryFolders: [
      { path: memoryFolder, maxBytes: memoryFolderBytes },
      { path: internalFolder, maxBytes: internalFolderBytes },
    ],
    limits: environmentLimitsOf(environment),
    isOffline: environment.isOffline === true || options.network?.isRestricted() !== true,
  };

  async function hostsMounts(): Promise<readonly Mount[]> {
    if (sandbox.isOffline || options.network === null) return [];
    return [{ from: await options.network.hostsFile(environment.id), to: "/etc/hosts", isWritable: false }];
  }

  const messages: MessageSocket[] = [];
  async function close(): Promise<void> {
    for (const socket of messages) socket.close();
    for (const each of sandbox.layer === undefined ? [folder] : [folder, layer.folder]) await removeFolder(each);
  }

  async function open(): Promise<EnvironmentSandbox> {
    await mkdir(options.run, { recursive: true, mode: 0o700 });
    for (const each of [messageSockets, settingsFolder]) await mkdir(each, { recursive: true, mode: 0o755 });
    const compiled = mountOpcodes((await opcodes) ?? null);
    const allSettings = { ...settings, ...compiled.settings };
    await writeFile(path.join(settingsFolder, "sitewright.ini"), settingsFile(allSettings), { mode: 0o644 });
    if (sandbox.layer !== undefined) await prepareLayer(layer.folder, environment.documentRoot);
    await writeFile(packageSource, JSON.stringify(options.packageSource), { mode: 0o644 });
    for (let index = 0; index < sockets; index += 1)
      messages.push(await openMessageSocket(path.join(messageSockets, String(index))));
    return {
      sandbox: {
        ...sandbox,
        mounts: [...sandbox.mounts, ...compiled.mounts, ...(await hostsMounts())],
        memoryFolders: [...sandbox.memoryFolders, ...compiled.memoryFolders],
      },
      messages,
      folder,
      databaseState: () => files.map(stateOf).join(),
      close,
    };
  }

  return open().catch(async (error) => {
    await close();
    throw error;
  });
}

function stateOf(file: string): string {
  try {
    const facts = statSync(file, { bigint: true, throwIfNoEntry: false });
    return facts === undefined ? "" : `${facts.ino} ${facts.size} ${facts.mtimeNs}`;
  } catch {
    return "";
  }
}

/** Whether this process may mount layers. Without them, files are mounted read-only. */
const canMountLayers = () => process.getuid?.() === 0;

/** The database becomes read-only, and the web root is read-only or the layer `above`. */
function readOnlyMounts(mounts: readonly Mount[], above: string, protection: Protection): readonly Mount[] {
  return mounts.map((mount) => {
    if (mount.to === databaseFolder) return { ...mount, isWritable: false };
    if (protection === "all") return { ...mount, isWritable: false };
    if (mount.to !== siteFolder) return mount;
    return canMountLayers() ? { ...mount, from: above } : { ...mount, isWritable: false };
  });
}

/** Makes the folders of a layer above the web root. */
async function prepareLayer(folder: string, documentRoot: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await symlink(documentRoot, path.join(folder, "below"));
  const { uid, gid, mode } = await stat(documentRoot);
  for (const name of ["changes", "work", "above"]) {
    const made = path.join(folder, name);
    await mkdir(made);
    await chown(made, uid, gid);
    await chmod(made, mode & 0o7777);
  }
}
