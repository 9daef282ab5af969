/**
 * Compiles shared code to opcode files: php-fpm in a sandbox of its own, as a user without environments, that has nothing but that
 * code and the folder for the result. It compiles the code and never runs it.
 */
import { chmod, chown, lstat, mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { ownerOf, phpGroup } from "../../owner.ts";
import { internalFolder, memoryFolder, opcodeFolder, platformFolder, siteFolder } from "../../phpFolders.ts";
import { type PhpSettings, phpSettingsFolder, settingsFile } from "../environmentSandbox.ts";
import type { FastCgiConnection } from "../fastcgi/connection.ts";
import { FpmMaster } from "../fpmMaster.ts";
import type { Mount, Sandbox } from "../sandbox.ts";
import type { OpcodeJob } from "./job.ts";

/** Of each folder in memory. */
const memoryBytes = 64 << 20;
const milliseconds = 300_000;
const compiler = `${platformFolder}/compile.php`;

interface Compilation {
  /** Empty folder, which gets one folder. Its name is PHP's build. */
  readonly target: string;
  /** New folder for everything else, below one that is closed to others. */
  readonly folder: string;
  /** Paths of the scripts in the sandbox. */
  readonly scripts: readonly string[];
  /** Aborted: it is given up. */
  readonly signal: AbortSignal;
}

/**
 * Returns PHP's settings for compiling. PHP has its opcode memory, with room for all scripts, although only the files are used: without
 * it, each script has its own copy of every string, and PHP compares the characters of names that it could tell apart by their
 * addresses.
 */
export function compilerSettings(settings: PhpSettings): PhpSettings {
  return {
    ...settings,
    "opcache.file_cache": opcodeFolder,
    "opcache.memory_consumption": 512,
    "opcache.interned_strings_buffer": 64,
    memory_limit: -1,
  };
}

/** Rejects if it is given up, or PHP does not start. */
export async function compileOpcodes(
  { php, shared, settings }: OpcodeJob,
  { target, folder, scripts, signal }: Compilation,
): Promise<void> {
  const [settingsFolder, siteRoot] = [path.join(folder, "settings"), path.join(folder, "site")];
  const places = shared.map(({ to }) => path.posix.relative(siteFolder, to)).filter((place) => !place.startsWith(".."));
  for (const each of [settingsFolder, ...places.map((place) => path.join(siteRoot, place))])
    await mkdir(each, { recursive: true, mode: 0o755 });
  const content = settingsFile(compilerSettings(settings));
  await writeFile(path.join(settingsFolder, "sitewright.ini"), content, { mode: 0o644 });
  const group = phpGroup();
  if (group !== null) await chown(target, group, group);
  const mounts: readonly Mount[] = [
    { from: siteRoot, to: siteFolder, isWritable: false },
    ...shared,
    { from: target, to: opcodeFolder, isWritable: true },
    { from: settingsFolder, to: phpSettingsFolder, isWritable: false },
  ];
  const sandbox: Sandbox = {
    user: ownerOf(0),
    root: php.root,
    variables: { PHP_INI_SCAN_DIR: `:${phpSettingsFolder}` },
    mounts,
    memoryFolders: [memoryFolder, internalFolder].map((each) => ({ path: each, maxBytes: memoryBytes })),
    limits: null,
    isOffline: true,
  };
  const stop = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
  await compileScripts(sandbox, php.fpm, { folder, scripts, signal: stop });
  await protect(target);
}

async function compileScripts(
  sandbox: Sandbox,
  program: string,
  {
    folder,
    scripts,
    signal,
  }: { readonly folder: string; readonly scripts: readonly string[]; readonly signal: AbortSignal },
): Promise<void> {
  const master = await FpmMaster.start({
    sandbox,
    program,
    folder,
    slots: 1,
    idleSeconds: 1,
    settings: {},
    onLog: () => undefined,
  });
  const stop = () => master.kill();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    const connection = master.connect(0);
    for (const script of scripts) await compileScript(connection, script);
  } finally {
    signal.removeEventListener("abort", stop);
    master.kill();
    await master.exited;
  }
}

/** A script that can't be compiled stays without opcodes: PHP says why when it is used. */
async function compileScript(connection: FastCgiConnection, script: string): Promise<void> {
  const { body, finished } = await connection.request({
    parameters: { REQUEST_METHOD: "GET", SCRIPT_FILENAME: compiler, SITEWRIGHT_SCRIPT: script },
    body: null,
    onErrors: () => undefined,
  });
  body.resume();
  if (!(await finished)) throw new Error(`PHP ended while it compiled ${script} in advance.`);
}

/** Gives everything to the platform, readable for all. Call it when nothing runs in the sandbox. */
async function protect(folder: string): Promise<void> {
  const facts = await lstat(folder);
  if (!facts.isDirectory() && !facts.isFile()) throw new Error(`${folder} is no file, but something that PHP made.`);
  if (process.getuid?.() === 0) await chown(folder, 0, 0);
  await chmod(folder, facts.isDirectory() ? 0o755 : 0o444);
  if (!facts.isDirectory()) return;
  for (const name of await readdir(folder)) await protect(path.join(folder, name));
}
