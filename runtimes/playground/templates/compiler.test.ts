import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Compiled, CompiledStore } from "./compiled.ts";
import { type Compiler, createCompiler } from "./compiler.ts";

const calmSeconds = 20;
const compileSeconds = 7;

const partsOf = (phpVersion: string): Compiled => ({ opcodes: phpVersion, machineCode: phpVersion });

/** A store on which making takes seconds, and that only notes what it is told to make. */
class FakeStore implements CompiledStore {
  readonly begun: string[] = [];
  readonly #made = new Set<string>();
  readonly #earlier: readonly string[];

  constructor(earlier: readonly string[]) {
    this.#earlier = earlier;
  }

  async get(phpVersion: string): Promise<Compiled> {
    this.begun.push(phpVersion);
    await new Promise((resolve) => setTimeout(resolve, compileSeconds * 1000));
    if (phpVersion === "broken") throw new Error("There is no such PHP.");
    this.#made.add(phpVersion);
    return partsOf(phpVersion);
  }

  async recall(phpVersion: string): Promise<void> {
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
      usual: "8.3",
      ahead,
      calmSeconds,
      lastWork: () => (scene.isBusy ? performance.now() : 0),
      onFailure: (error) => failures.push(error),
    });
  }
}

const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("other versions than the usual one", () => {
  test("are compiled for when it was calm since the start, in the given order, one after the other", async () => {
    const { store } = open(["8.5", "8.4", "8.3"]);
    await pass(calmSeconds - 1);
    expect(store.begun).toEqual(["8.3"]);
    await pass(2);
    expect(store.begun).toEqual(["8.3", "8.5"]);
    await pass(compileSeconds - 2);
    expect(store.begun).toEqual(["8.3", "8.5"]);
    await pass(4);
    expect(store.begun).toEqual(["8.3", "8.5", "8.4"]);
    await pass(100);
    expect(store.begun).toEqual(["8.3", "8.5", "8.4"]);
  });

  test("wait while there is work, and then until it was calm again", async () => {
    const scene = open(["8.4"]);
    scene.isBusy = true;
    await pass(100);
    scene.isBusy = false;
    await pass(calmSeconds - 2);
    expect(scene.store.begun).toEqual(["8.3"]);
    await pass(3);
    expect(scene.store.begun).toEqual(["8.3", "8.4"]);
  });

  test("wait between two versions when there is work by then", async () => {
    const scene = open(["8.5", "8.4"]);
    await pass(calmSeconds + 1);
    scene.isBusy = true;
    await pass(100);
    expect(scene.store.begun).toEqual(["8.3", "8.5"]);
    scene.isBusy = false;
    await pass(calmSeconds + 2);
    expect(scene.store.begun).toEqual(["8.3", "8.5", "8.4"]);
  });

  test("are known at once where they were done earlier, and not done again", async () => {
    const { store } = open(["8.5", "8.4"], ["8.4"]);
    await pass(0);
    expect(store.known()).toEqual(["8.4"]);
    await pass(200);
    expect(store.begun).toEqual(["8.3", "8.5"]);
  });

  test("are compiled for without waiting for calm where a site has that version, and once only", async () => {
    const scene = open(["8.5", "8.4"]);
    scene.isBusy = true;
    scene.compiler.compile("8.4");
    scene.compiler.compile("8.4");
    await pass(compileSeconds + 1);
    expect(scene.store.begun).toEqual(["8.3", "8.4"]);
    scene.isBusy = false;
    await pass(200);
    expect(scene.store.begun).toEqual(["8.3", "8.4", "8.5"]);
  });

  test("that can't be compiled for are told once and keep none of the others back", async () => {
    const { store, failures } = open(["broken", "8.4"]);
    await pass(200);
    expect(store.begun).toEqual(["8.3", "broken", "8.4"]);
    expect(failures).toHaveLength(1);
  });

  test.each([
    ["before it was calm", 1, ["8.3"]],
    ["while one is being done", calmSeconds + 2, ["8.3", "8.5"]],
  ])("are not begun after a close %s", async (_when, seconds, begun) => {
    const { compiler, store } = open(["8.5", "8.4"]);
    await pass(seconds);
    compiler.compile("8.1");
    compiler.close();
    await pass(200);
    expect(store.begun).toEqual(begun);
    expect(vi.getTimerCount()).toBe(0);
  });
});
