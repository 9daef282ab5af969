/**
 * Boots PHP with the settings that WordPress under WebAssembly needs. A PHP runtime serves one environment until its
 * process ends: a script can modify the scripts that PHP runs before every other script.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { getCACertificates } from "node:tls";
import { loadNodeRuntime } from "@php-wasm/node";
import { PHP, __private__dont__use as runtimeOf, SupportedPHPVersions, setPhpIniEntries } from "@php-wasm/universal";
import { memoryFolder, opcodeFolder, siteFolder } from "../../phpFolders.ts";
import { disabledFunctions, functionsReplacedBy, phpSettings, uploadSettings } from "../../phpSettings.ts";
import { createPhpMessages } from "../../pool/phpMessages.ts";
import type { OutgoingMail, UploadLimits } from "../../serving.ts";
import { mainModuleOf, wasmFileOf } from "./build.ts";
import { createDiskBudget } from "./diskBudget.ts";
import { answerDnsQuestion } from "./dnsRecords.ts";
import { extensionVariables, mountExtensions } from "./extensions.ts";
import { createExtraLogLines } from "./extraLogLines.ts";
import { forgetOwnNodes, type NodeTable } from "./hostNodes.ts";
import { type MountKind, mountFolder } from "./mounts.ts";
import { installPlatform } from "./platform.ts";
import { createPrograms, type OtherPrograms } from "./programs.ts";
import { type HandOver, sendmailProgram } from "./sendmail.ts";
import type { NetworkRules } from "./socket.ts";
import { SystemCalls } from "./systemCalls.ts";
import { createWriteGuard } from "./writeGuard.ts";

const certificateFile = "/internal/certificates.pem";
const opcacheBlacklist = "/internal/opcache-blacklist";
/** The memory limit that WordPress sets by itself for administrators, in MB. */
const wordpressMegabytes = 256;
/** PHP runs the scripts in this folder before each script, sorted by name. */
const limitsScript = "/internal/shared/preload/00-limits.php";

/** Functions that the platform's own PHP defines instead. `mounts.ts` refuses links, too. */
const replacedFunctions = [...functionsReplacedBy("mysqli"), ...functionsReplacedBy("dns")];

const settings = {
  ...phpSettings,
  // The library's default is a file cache in memory: a third slower than shared memory.
  "opcache.file_cache_only": 0,
  "opcache.blacklist_filename": opcacheBlacklist,
  sendmail_path: `${sendmailProgram} -t -i`,
  "openssl.cafile": certificateFile,
  "curl.cainfo": certificateFile,
};

interface OpenFile {
  readonly fd: number;
  readonly path?: string;
}

interface Files {
  readonly FS: NodeTable & {
    readonly streams: readonly (OpenFile | null | undefined)[];
    close(file: OpenFile): void;
  };
}

function hasFiles(runtime: object): runtime is Files {
  return "FS" in runtime;
}

/** The files that PHP writes its output to. */
const outputs = new Set(["/request/stdout", "/request/stderr"]);
const standardDescriptors = 3;

interface Outputs {
  readonly onStdout: (bytes: Uint8Array) => void;
  readonly onStderr: (bytes: Uint8Array) => void;
}
const noMail: HandOver = async () => "nothing can be sent from here";

export class GuardedPhp extends PHP {
  /** Write protection for the environment's mounts. */
  readonly writes = createWriteGuard();
  readonly disk = createDiskBudget();

  /** What the platform's PHP tells about the current request. */
  readonly messages = createPhpMessages();

  /** Log lines about the current request that don't come from PHP. */
  readonly extraLogLines = createExtraLogLines();

  /** PHP code that sets each limit. */
  readonly #limits = { memory: "", time: "" };

  /** Hands a message over, unless the request is write-protected: sending mail counts as a change. */
  async handOver(mail: OutgoingMail, next: HandOver = noMail): Promise<string | null> {
    return this.writes.refuses() ? "nothing can be sent at the moment" : next(mail);
  }

  /** Gives PHP its system calls, which restrict its network connections. */
  attach(calls: SystemCalls): void {
    calls.attach(this[runtimeOf]);
  }

  /**
   * Sets the memory limit. PHP has already read its settings when its environment becomes known, so the limits are set
   * before each script. WordPress may not raise it for administrators either. A script that lifts it is killed by the
   * process that watches this one.
   */
  limitMemory(megabytes: number): void {
    const limit = `'${megabytes}M'`;
    const wordpress = megabytes < wordpressMegabytes ? `define('WP_MAX_MEMORY_LIMIT', ${limit});` : "";
    this.#limit("memory", `ini_set('memory_limit', ${limit}); ${wordpress}`);
  }

  /** Tells scripts how much time they have. The process that watches this one kills a script that takes longer. */
  announceTimeLimit(seconds: number): void {
    this.#limit("time", `ini_set('max_execution_time', '${Math.ceil(seconds)}');`);
  }

  #limit(name: "memory" | "time", code: string): void {
    if (this.#limits[name] === code) return;
    this.#limits[name] = code;
    this.writeFile(limitsScript, `<?php ${this.#limits.memory} ${this.#limits.time}`);
  }

  /** Call before each request, so that PHP sees the changes that other workers have made to the environment's files. */
  forgetNodes(): void {
    forgetOwnNodes(this.#files());
  }

  /**
   * Call after each request. The library reopens the outputs for each request and never closes them; from the 512th
   * request on, a socket's number would be too high for `select`, and every connection would time out.
   */
  closeOutputs(): void {
    const files = this.#files();
    for (const file of files.streams) {
      if (file && file.fd >= standardDescriptors && outputs.has(file.path ?? "")) files.close(file);
    }
  }

  /**
   * From now on passes PHP's output on immediately, while PHP waits, instead of keeping it in this process until it is
   * read. The bytes are in PHP's own memory.
   */
  divertOutputs(outputs: Outputs): void {
    const runtime = this[runtimeOf];
    for (const [name, take] of Object.entries(outputs)) {
      // The library sets its own handler at each run.
      Object.defineProperty(runtime, name, { get: () => take, set: () => undefined });
    }
  }

  #files(): Files["FS"] {
    const runtime = this[runtimeOf];
    if (!hasFiles(runtime)) throw new Error("This PHP build has an unknown file system.");
    return runtime.FS;
  }
}

/** Implements other programs in this process. Returns the result, or null if there is no such program. */
export type Programs = (php: GuardedPhp, ...call: Parameters<OtherPrograms>) => ReturnType<OtherPrograms>;

/**
 * Loads the socket library early: PHP loads it when it first connects, and by then this process may run as a user
 * without access to our folders. A library loaded from the same folder is not loaded again.
 */
function loadSocketLibrary(version: string): void {
  createRequire(mainModuleOf(version))("ws");
}

/** The host folder of PHP's compiled scripts (opcodes). */
export interface OpcodeFiles {
  readonly folder: string;
  readonly kind: MountKind;
}

/** Boots a PHP runtime. `process.pid` is its id, which must be unique on the host. */
export async function bootPhp(options: {
  readonly version: string;
  readonly network: () => NetworkRules | null;
  readonly opcodes: OpcodeFiles | null;
  /** PHP's compiled WebAssembly, if there is one (`machineCode.ts`). */
  readonly module?: WebAssembly.Module | null;
  /** Programs in addition to sendmail. Absent: none, and PHP's functions that start programs are disabled. */
  readonly programs?: Programs | null;
  /** Takes the messages of `mail()`. Absent: `mail()` returns false. */
  readonly handOver?: HandOver;
  /** Host folder of further extensions (`assets/extensions.ts`). Null or absent: none. */
  readonly extensions?: string | null;
  /** Absent: PHP's own defaults. */
  readonly uploads?: UploadLimits | undefined;
}): Promise<GuardedPhp> {
  if (!SupportedPHPVersions.includes(options.version)) throw new Error(`There is no PHP ${options.version}.`);
  loadSocketLibrary(options.version);
  // Without a name, PHP would see this program's path on the host as the variable `_`.
  const module = options.module ?? (await WebAssembly.compile(await readFile(await wasmFileOf(options.version))));
  const calls = new SystemCalls(options.network);
  const emscriptenOptions = {
    processId: process.pid,
    thisProgram: "php",
    ENV: { ...extensionVariables, SQLITE_TMPDIR: memoryFolder },
    instantiateWasm: calls.instantiate(module),
  };
  const php = new GuardedPhp(await loadNodeRuntime(options.version, { followSymlinks: false, emscriptenOptions }));
  php.attach(calls);
  await php.setSapiName("fpm-fcgi");
  php.mkdir(memoryFolder);
  php.writeFile(certificateFile, Buffer.from(getCACertificates("default").join("\n")));
  php.writeFile(opcacheBlacklist, `${siteFolder}/wp-config.php\n`);
  if (options.opcodes !== null) await mountFolder(php, opcodeFolder, options.opcodes.folder, options.opcodes.kind);
  const { extensions = null } = options;
  const extensionSettings = extensions === null ? {} : await mountExtensions(php, extensions, options.version);
  const programs = options.programs ?? null;
  await setPhpIniEntries(php, {
    ...settings,
    ...(options.uploads && uploadSettings(options.uploads)),
    ...extensionSettings,
    "opcache.file_cache": options.opcodes === null ? "" : opcodeFolder,
    // A command runs each script once, so it only benefits from scripts compiled earlier.
    "opcache.enable_cli": options.opcodes === null ? 0 : 1,
    disable_functions: [
      ...disabledFunctions.filter((name) => programs === null || name !== "proc_open"),
      ...replacedFunctions,
    ].join(","),
  });
  await php.setSpawnHandler(
    createPrograms({
      handOver: (mail) => php.handOver(mail, options.handOver),
      log: php.extraLogLines.add,
      others: (command) => programs?.(php, command) ?? null,
    }),
  );
  installPlatform(php);
  php.onMessage((message) => php.messages.receive(message));
  php.onMessage((message) => answerDnsQuestion(message, options.network()));
  return php;
}
