/**
 * Decides when to compile which PHP version: the default version at once, versions that sites use next, and all others
 * in quiet periods.
 */
import type { CompiledStore } from "./compiled.ts";

interface CompilerOptions {
  readonly compiled: CompiledStore;
  /** The version that most sites use. */
  readonly defaultVersion: string;
  /** Other versions that may be compiled: in quiet periods, in this order, unless a site uses one earlier. */
  readonly ahead: readonly string[];
  /** A period is quiet after this many seconds without work for visitors. */
  readonly quietSeconds: number;
  /** Time of the last work for visitors (`performance.now()`); now, if there is work at present. */
  readonly lastWork: () => number;
  /** Receives the error if a version could not be compiled. */
  readonly onFailure: (error: unknown) => void;
}

export interface Compiler {
  /** Resolves when the default version is compiled, or has failed. Never rejects. */
  readonly defaultReady: Promise<unknown>;
  /**
   * Compiles a version in the background, one version after the other, so that later workers boot fast. Does nothing for
   * versions that are not in `ahead`.
   */
  compile(phpVersion: string): void;
  /** Starts no further version, and waits for none. */
  close(): void;
}

/** Checks per quiet period: often enough to notice any work in it. */
const checksPerPeriod = 4;
const maxCheckSeconds = 1;

/** Creates the compiler, which starts with the default version at once. */
export function createCompiler({ compiled, ahead, onFailure, ...options }: CompilerOptions): Compiler {
  const requested = new Set([options.defaultVersion]);
  const defaultReady = compiled.get(options.defaultVersion).catch(onFailure);
  let last: Promise<unknown> = defaultReady;
  let lastWork = performance.now();
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  function compile(phpVersion: string): void {
    if (requested.has(phpVersion) || !ahead.includes(phpVersion)) return;
    requested.add(phpVersion);
    last = last.then(() => (isClosed ? null : compiled.get(phpVersion, "background"))).catch(onFailure);
  }

  /** Remembers the last work, because workers that have ended no longer report it. */
  function isQuiet(): boolean {
    lastWork = Math.max(lastWork, options.lastWork());
    return performance.now() - lastWork >= options.quietSeconds * 1000;
  }

  async function compileAhead(): Promise<void> {
    const next = ahead.find((phpVersion) => !requested.has(phpVersion) && compiled.find(phpVersion) === null);
    if (next === undefined) return;
    if (isQuiet()) compile(next);
    await last;
    scheduleCheck();
  }

  function scheduleCheck(): void {
    if (isClosed) return;
    const seconds = Math.min(options.quietSeconds / checksPerPeriod, maxCheckSeconds);
    timer = setTimeout(() => void compileAhead(), seconds * 1000);
    timer.unref();
  }

  // Code that an earlier process has compiled is available at once; only the rest waits for quiet periods. Errors are
  // reported when the version is compiled.
  void Promise.allSettled(ahead.map((phpVersion) => compiled.lookUp(phpVersion))).then(scheduleCheck);

  return {
    defaultReady,
    compile,
    close: () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
