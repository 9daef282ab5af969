/**
 * PHP itself, with the settings that WordPress under WebAssembly needs. One runtime belongs to one environment
 * until its process ends: a script can rewrite what PHP runs before every other script.
 */
import { createRequire } from "node:module";
import { getCACertificates } from "node:tls";
import { type InstantiateWasm, loadNodeRuntime } from "@php-wasm/node";
import { PHP, __private__dont__use as runtimeOf, SupportedPHPVersions, setPhpIniEntries } from "@php-wasm/universal";
import type { OutgoingMail } from "../../serving.ts";
import { mainModuleOf } from "./build.ts";
import { createDiskBudget } from "./diskBudget.ts";
import { createExtraLogLines } from "./extraLogLines.ts";
import { opcodeFolder, sessionFolder, siteFolder } from "./folders.ts";
import { forgetOwnNodes, type NodeTable } from "./hostNodes.ts";
import { type MountKind, mountFolder } from "./mounts.ts";
import { installPlatform } from "./platform.ts";
import { createPrograms, type HandOver, sendmailProgram } from "./sendmail.ts";
import { guardNetwork, type NetworkedRuntime, type NetworkRules } from "./socket.ts";
import { createTouchedPages } from "./touchedPages.ts";
import { createWriteGuard } from "./writeGuard.ts";

const certificateFile = "/internal/certificates.pem";
const opcacheBlacklist = "/internal/opcache-blacklist";
/** What WordPress raises the limit to by itself, in MB. */
const wordpressMegabytes = 256;
const usualUploadBytes = 256 * 1_048_576;
/** PHP runs what is in this folder before each script, in the order of the names. */
const memoryScript = "/internal/shared/preload/00-memory.php";

/** Whatever starts a process, and what makes links (`mounts.ts` refuses them too). */
const disabledFunctions = [
  ...["exec", "shell_exec", "system", "passthru", "popen", "proc_open", "pcntl_exec", "pcntl_fork", "dl"],
  ...["symlink", "link"],
];

const settings = {
  // The library's default is a file cache in memory: a third slower than shared memory.
  "opcache.file_cache_only": 0,
  "opcache.memory_consumption": 96,
  "opcache.interned_strings_buffer": 16,
  "opcache.max_accelerated_files": 8000,
  "opcache.validate_timestamps": 1,
  "opcache.revalidate_freq": 0,
  // A file changed within the last two seconds is not cached: it may change again within the same second.
  "opcache.file_update_protection": 2,
  "opcache.blacklist_filename": opcacheBlacklist,
  display_errors: 0,
  display_startup_errors: 0,
  html_errors: 0,
  log_errors: 1,
  // As hosts have it: a blank line before a script must not keep it from sending headers.
  output_buffering: 4096,
  implicit_flush: 0,
  expose_php: 0,
  memory_limit: "256M",
  max_execution_time: 0,
  allow_url_include: 0,
  "session.save_path": sessionFolder,
  sendmail_path: `${sendmailProgram} -t -i`,
  "openssl.cafile": certificateFile,
  "curl.cainfo": certificateFile,
};

function hasNetwork(runtime: object): runtime is NetworkedRuntime {
  return "websocket" in runtime && "outboundNetworkProxyServer" in runtime;
}

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

/** What PHP writes to during a request. */
const outputs = new Set(["/request/stdout", "/request/stderr"]);
const standardDescriptors = 3;

export interface Outputs {
  readonly onStdout: (bytes: Uint8Array) => void;
  readonly onStderr: (bytes: Uint8Array) => void;
}
const nowhere: HandOver = async () => "nothing can be sent from here";

export class GuardedPhp extends PHP {
  /** For the mounts of its environment. */
  readonly writes = createWriteGuard();
  readonly disk = createDiskBudget();

  /** What the platform's PHP tells of a request. */
  readonly touchedPages = createTouchedPages();

  /** What is told about a request besides what PHP itself writes to its log. */
  readonly extraLogLines = createExtraLogLines();

  /** A message is a change that a protected request must not make. */
  async handOver(mail: OutgoingMail, next: HandOver = nowhere): Promise<string | null> {
    return this.writes.refuses() ? "nothing can be sent at the moment" : next(mail);
  }

  guard(rules: () => NetworkRules | null): void {
    const runtime = this[runtimeOf];
    if (!hasNetwork(runtime)) throw new Error("This PHP's network has another form; it can't be guarded.");
    guardNetwork(runtime, rules);
  }

  /**
   * PHP has read its settings when it knows its environment: the limit is set before each script. What WordPress may raise it
   * to for administrators is the same. A script that lifts it is ended by whoever watches this process.
   */
  limitMemory(megabytes: number): void {
    const limit = `'${megabytes}M'`;
    const wordpress = megabytes < wordpressMegabytes ? `define('WP_MAX_MEMORY_LIMIT', ${limit});` : "";
    this.writeFile(memoryScript, `<?php ini_set('memory_limit', ${limit}); ${wordpress}`);
  }

  /** To be called before a request, so that PHP sees what other workers have done to the environment's files. */
  forgetNodes(): void {
    forgetOwnNodes(this.#files());
  }

  /**
   * To be called after a request. The library opens the outputs anew for each and forgets to close them; from
   * the 512th request on, a socket's number would be too high for `select`, and every connection would only time out.
   */
  closeOutputs(): void {
    const files = this.#files();
    for (const file of files.streams) {
      if (file && file.fd >= standardDescriptors && outputs.has(file.path ?? "")) files.close(file);
    }
  }

  /**
   * From now on what PHP writes is handed over at once, while PHP waits, instead of being kept in this process until
   * somebody reads it. The bytes are PHP's own memory.
   */
  divertOutputs(outputs: Outputs): void {
    const runtime = this[runtimeOf];
    for (const [name, take] of Object.entries(outputs)) {
      // The library sets its own at each run.
      Object.defineProperty(runtime, name, { get: () => take, set: () => undefined });
    }
  }

  #files(): Files["FS"] {
    const runtime = this[runtimeOf];
    if (!hasFiles(runtime)) throw new Error("This PHP's files have another form.");
    return runtime.FS;
  }
}

/** What another program would do, in this process. Returns its exit code, or null if it is not one that there is. */
export type Programs = (php: PHP, command: readonly string[]) => number | null;

/**
 * PHP's build loads its socket library when PHP first connects to something. By then this process may be a user to
 * whom our folders are closed: what is loaded before, from the same folder, is not looked for again.
 */
function loadSocketLibrary(version: string): void {
  createRequire(mainModuleOf(version))("ws");
}

/** Where on the host PHP finds scripts that are compiled already, or leaves what it compiles. */
export interface OpcodeFiles {
  readonly folder: string;
  readonly kind: MountKind;
}

/** PHP from a module of ours instead of one that the library compiles. The library is not ready for it at once. */
function instantiate(module: WebAssembly.Module): InstantiateWasm {
  return (imports, receive) => {
    void WebAssembly.instantiate(module, imports).then((instance) => receive(instance, module));
  };
}

/** `processId` must be unique among all PHP runtimes of the host: the process's own id is. */
export async function bootPhp(options: {
  readonly version: string;
  readonly network: () => NetworkRules | null;
  readonly opcodes: OpcodeFiles | null;
  /** PHP's WebAssembly where it is compiled already (`machineCode.ts`). */
  readonly module?: WebAssembly.Module | null;
  /** Besides sendmail. Absent: none, and PHP's functions that start one are switched off. */
  readonly programs?: Programs | null;
  /** Where what `mail()` is given goes. Absent: nowhere, and `mail()` says false. */
  readonly handOver?: HandOver;
  /** The largest upload in bytes. Absent: 256 MB. */
  readonly uploadBytes?: number | undefined;
}): Promise<GuardedPhp> {
  if (!SupportedPHPVersions.includes(options.version)) throw new Error(`There is no PHP ${options.version}.`);
  loadSocketLibrary(options.version);
  // Where this program lies on the host is told to PHP as the variable `_`, unless it has a name.
  const own = options.module ? { instantiateWasm: instantiate(options.module) } : {};
  const emscriptenOptions = { processId: process.pid, thisProgram: "php", ...own };
  const php = new GuardedPhp(await loadNodeRuntime(options.version, { followSymlinks: false, emscriptenOptions }));
  php.guard(options.network);
  await php.setSapiName("fpm-fcgi");
  php.writeFile(certificateFile, Buffer.from(getCACertificates("default").join("\n")));
  php.writeFile(opcacheBlacklist, `${siteFolder}/wp-config.php\n`);
  if (options.opcodes !== null) await mountFolder(php, opcodeFolder, options.opcodes.folder, options.opcodes.kind);
  const programs = options.programs ?? null;
  const uploadBytes = options.uploadBytes ?? usualUploadBytes;
  await setPhpIniEntries(php, {
    ...settings,
    upload_max_filesize: uploadBytes,
    post_max_size: uploadBytes,
    "opcache.file_cache": options.opcodes === null ? "" : opcodeFolder,
    // A command runs each script once: it gains only from what was compiled before.
    "opcache.enable_cli": options.opcodes === null ? 0 : 1,
    disable_functions: disabledFunctions.filter((name) => programs === null || name !== "proc_open").join(","),
  });
  await php.setSpawnHandler(
    createPrograms({
      handOver: (mail) => php.handOver(mail, options.handOver),
      tell: php.extraLogLines.add,
      others: (command) => programs?.(php, command) ?? null,
    }),
  );
  installPlatform(php);
  php.onMessage((message) => php.touchedPages.receive(message));
  return php;
}
