import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Compiled, CompiledStore } from "./compiled.ts";
import { type Compiler, createCompiler } from "./compiler.ts";

const quietSeconds = 20;
const compileSeconds = 7;

const partsOf = (phpVersion: string): Compiled => ({ opcodes: phpVersion, machineCode: phpVersion });

/** A store that records which versions it compiles, each of which takes some seconds. */
class FakeStore implements CompiledStore {
  readonly started: string[] = [];
  readonly #made = new Set<string>();
  readonly #earlier: readonly string[];

  constructor(earlier: readonly string[]) {
    this.#earlier = earlier;
  }

  async get(phpVersion: string): Promise<Compiled> {
    this.started.push(phpVersion);
    await new Promise((resolve) => setTimeout(resolve, compileSeconds * 1000));
    if (phpVersion === "broken") throw new Error("There is no such PHP.");
    this.#made.add(phpVersion);
    return partsOf(phpVersion);
  }

  async lookUp(phpVersion: string): Promise<void> {
    if (phpVersion === "broken") throw new Error("There is no such PHP.");
    if (this.#earlier.includes(phpVersion)) this.#made.add(phpVersion);
  }

  find(phpVersion: string): Compiled | null {
    return this.#made.has(phpVersion) ? partsOf(phpVersion) : null;
  }

  known(): readonly string[] {
    return [...this.#made];
  }
}

interface Scene {
  readonly compiler: Compiler;
  readonly store: FakeStore;
  readonly failures: unknown[];
  isBusy: boolean;
}

function open(ahead: readonly string[], earlier: readonly string[] = []): Scene {
  const store = new FakeStore(earlier);
  const failures: unknown[] = [];
  const scene: Scene = { store, failures, isBusy: false, compiler: create() };
  return scene;

  function create(): Compiler {
    return createCompiler({
      compiled: store,
      defaultVersion: "8.3",
      ahead,
      quietSeconds,
      lastWork: () => (scene.isBusy ? performance.now() : 0),
      onFailure: (error) => failures.push(error),
    });
  }
}

const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("versions other than the default one", () => {
  test("are compiled after a quiet period, in the given order, one after the other", async () => {
    const { store } = open(["8.5", "8.4", "8.3"]);
    await pass(quietSeconds - 1);
    expect(store.started).toEqual(["8.3"]);
    await pass(2);
    expect(store.started).toEqual(["8.3", "8.5"]);
    await pass(compileSeconds - 2);
    expect(store.started).toEqual(["8.3", "8.5"]);
    await pass(4);
    expect(store.started).toEqual(["8.3", "8.5", "8.4"]);
    await pass(100);
    expect(store.started).toEqual(["8.3", "8.5", "8.4"]);
  });

  test("wait while there is work, and then for a quiet period", async () => {
    const scene = open(["8.4"]);
    scene.isBusy = true;
    await pass(100);
    scene.isBusy = false;
    await pass(quietSeconds - 2);
    expect(scene.store.started).toEqual(["8.3"]);
    await pass(3);
    expect(scene.store.started).toEqual(["8.3", "8.4"]);
  });

  test("wait between two versions if there is work", async () => {
    const scene = open(["8.5", "8.4"]);
    await pass(quietSeconds + 1);
    scene.isBusy = true;
    await pass(100);
    expect(scene.store.started).toEqual(["8.3", "8.5"]);
    scene.isBusy = false;
    await pass(quietSeconds + 2);
    expect(scene.store.started).toEqual(["8.3", "8.5", "8.4"]);
  });

  test("are known at once where they were done earlier, and not done again", async () => {
    const { store } = open(["8.5", "8.4"], ["8.4"]);
    await pass(0);
    expect(store.known()).toEqual(["8.4"]);
    await pass(200);
    expect(store.started).toEqual(["8.3", "8.5"]);
  });

  test("are compiled at once if a site uses the version, and only once", async () => {
    const scene = open(["8.5", "8.4"]);
    scene.isBusy = true;
    scene.compiler.compile("8.4");
    scene.compiler.compile("8.4");
    await pass(compileSeconds + 1);
    expect(scene.store.started).toEqual(["8.3", "8.4"]);
    scene.isBusy = false;
    await pass(200);
    expect(scene.store.started).toEqual(["8.3", "8.4", "8.5"]);
  });

  test("are not compiled for a site if they are not listed", async () => {
    const { compiler, store } = open(["8.4"]);
    compiler.compile("8.1");
    await pass(200);
    expect(store.started).toEqual(["8.3", "8.4"]);
  });

  test("report a failure once and don't block the other versions", async () => {
    const { store, failures } = open(["broken", "8.4"]);
    await pass(200);
    expect(store.started).toEqual(["8.3", "broken", "8.4"]);
    expect(failures).toHaveLength(1);
  });

  test.each([
    ["before the quiet period", 1, ["8.3"]],
    ["during a compilation", quietSeconds + 2, ["8.3", "8.5"]],
  ])("are not compiled after a close %s", async (_when, seconds, started) => {
    const { compiler, store } = open(["8.5", "8.4"]);
    await pass(seconds);
    compiler.compile("8.1");
    compiler.close();
    await pass(200);
    expect(store.started).toEqual(started);
    expect(vi.getTimerCount()).toBe(0);
  });
});
