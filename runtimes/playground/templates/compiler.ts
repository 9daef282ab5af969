/**
 * For which version of PHP is compiled when: the usual one at once, one that a site has as soon as that is done, and all
 * others on offer when it is calm.
 */
import type { CompiledStore } from "./compiled.ts";

export interface CompilerOptions {
  readonly compiled: CompiledStore;
  /** The version that most sites have. */
  readonly usual: string;
  /** Versions that wait until it is calm, the first of them first. */
  readonly ahead: readonly string[];
  /** It is calm when for so long nothing was done for visitors. */
  readonly calmSeconds: number;
  /** When something was last done for visitors, as `performance.now()` tells it: now, where it still is. */
  readonly lastWork: () => number;
  /** Told why something could not be compiled. */
  readonly onFailure: (error: unknown) => void;
}

export interface Compiler {
  /** Settles when the usual version is done, or can't be. Never rejects. */
  readonly usual: Promise<unknown>;
  /** So that later workers of this version boot fast. In the background, one version after the other. */
  compile(phpVersion: string): void;
  /** Begins with no further version, and waits for none. */
  close(): void;
}

/** How often it is looked whether it is calm: often enough to notice any work within the time of calm. */
const looksPerCalm = 4;
const mostSecondsBetweenLooks = 1;

/** Begins at once. */
export function createCompiler({ compiled, ahead, onFailure, ...options }: CompilerOptions): Compiler {
  const asked = new Set([options.usual]);
  const usual = compiled.get(options.usual).catch(onFailure);
  let last: Promise<unknown> = usual;
  let lastWork = performance.now();
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  function compile(phpVersion: string): void {
    if (asked.has(phpVersion)) return;
    asked.add(phpVersion);
    last = last.then(() => (isClosed ? null : compiled.get(phpVersion, "patient"))).catch(onFailure);
  }

  /** A worker that ended meanwhile can't tell any more when it was last used, so that is kept. */
  function isCalm(): boolean {
    lastWork = Math.max(lastWork, options.lastWork());
    return performance.now() - lastWork >= options.calmSeconds * 1000;
  }

  async function compileAhead(): Promise<void> {
    const next = ahead.find((phpVersion) => !asked.has(phpVersion) && compiled.find(phpVersion) === null);
    if (next === undefined) return;
    if (isCalm()) compile(next);
    await last;
    lookAgain();
  }

  function lookAgain(): void {
    if (isClosed) return;
    const seconds = Math.min(options.calmSeconds / looksPerCalm, mostSecondsBetweenLooks);
    timer = setTimeout(() => void compileAhead(), seconds * 1000);
    timer.unref();
  }

  // What an earlier process has made is known from the beginning; only the rest needs calm. Whatever is wrong with a
  // version is told when it is to be made.
  void Promise.allSettled(ahead.map((phpVersion) => compiled.recall(phpVersion))).then(lookAgain);

  return {
    usual,
    compile,
    close: () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
