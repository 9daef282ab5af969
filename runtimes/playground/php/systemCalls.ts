/** The functions of the operating system that PHP gets from here instead of from the library. */
import type { InstantiateWasm } from "@php-wasm/node";
import { addCppFunctions } from "./extensions.ts";
import { flush, type OpenFiles } from "./flushing.ts";
import { hostNameImports, type PhpMemory } from "./hostNameImports.ts";
import { HostNames } from "./hostNames.ts";
import { guardNetwork, type NetworkedRuntime, type NetworkRules } from "./socket.ts";
import { SocketWaiting } from "./socketWaiting.ts";

/** Emscripten's limit of open files. */
const maxOpenFiles = 4096;

/**
 * Functions that the library lacks: calling one would end the process. PHP asks for the first when it opens `php://fd/N`, and
 * then tells by itself whether N is open. These numbers are PHP's own; the host's have no meaning there.
 */
const missingFunctions = { getdtablesize: () => maxOpenFiles };

/**
 * PHP's time limit counts the time for which PHP runs, on other hosts. Here its timer would count the time for which it waits
 * instead: a timer of this process can't interrupt PHP while it runs. So it never fires, and the worker's deadline counts.
 */
const timers = { _setitimer_js: () => 0 };

type Runtime = NetworkedRuntime & PhpMemory & { readonly FS: OpenFiles };

function isRuntime(runtime: object): runtime is Runtime {
  const used = ["FS", "websocket", "outboundNetworkProxyServer", "UTF8ToString", "stringToUTF8", "_malloc", "_free"];
  return used.every((name) => name in runtime);
}

export class SystemCalls {
  readonly #rules: () => NetworkRules | null;
  readonly #waiting = new SocketWaiting();
  readonly #names: HostNames;
  #runtime: Runtime | null = null;

  /** `rules` returns null if PHP has no network. A spare worker gets them with its environment. */
  constructor(rules: () => NetworkRules | null) {
    this.#rules = rules;
    this.#names = new HostNames(rules);
  }

  /** Instantiates PHP's module. The library expects this to happen asynchronously. */
  instantiate(module: WebAssembly.Module): InstantiateWasm {
    return (imports, receive) => {
      const env = {
        ...imports.env,
        ...missingFunctions,
        ...timers,
        ...this.#suspending(imports.env ?? {}),
        __syscall_fdatasync: (descriptor: number) => -this.#flush(descriptor),
      };
      const { wasi_snapshot_preview1: standard } = imports;
      const wasi_snapshot_preview1 = { ...standard, fd_sync: (descriptor: number) => this.#flush(descriptor) };
      void WebAssembly.instantiate(module, { ...imports, env, wasi_snapshot_preview1 }).then((instance) => {
        // Extensions, which are loaded later, look here.
        addCppFunctions(imports.env ?? {}, instance.exports);
        receive(instance, module);
      });
    };
  }

  #suspending(original: Readonly<Record<string, unknown>>): Record<string, WebAssembly.Suspending> {
    const replaced = {
      emscripten_sleep: (milliseconds: number) => this.#waiting.sleep(milliseconds),
      __asyncjs__wasm_poll_socket: (descriptor: number, events: number, milliseconds: number) =>
        this.#waiting.poll(descriptor, events, milliseconds),
      ...hostNameImports(this.#names, () => this.#started(), original),
    };
    return Object.fromEntries(
      Object.entries(replaced).map(([name, imported]) => [name, new WebAssembly.Suspending(imported)]),
    );
  }

  /** Returns the number of an error; 0: none. */
  #flush(descriptor: number): number {
    return this.#runtime === null ? 0 : flush(this.#runtime.FS, descriptor);
  }

  #started(): Runtime {
    if (this.#runtime === null) throw new Error("PHP has not started yet.");
    return this.#runtime;
  }

  /** Call once the module runs. Also restricts PHP's network connections. */
  attach(runtime: object): void {
    if (!isRuntime(runtime)) throw new Error("This PHP build has an unknown network interface; it can't be guarded.");
    this.#runtime = runtime;
    guardNetwork(runtime, { waiting: this.#waiting, names: this.#names, rules: this.#rules });
  }
}
