import { describe, expect, test } from "vitest";
import { createTurns } from "./turns.ts";

/** Starts work that ends when the test says so. */
function makeRuns(options: Parameters<typeof createTurns>[0]) {
  const turns = createTurns(options);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    begun,
    start(party: string, name: string, signal?: AbortSignal): Promise<string> {
      const work = async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        return name;
      };
      return turns.run(party, work, signal);
    },
    async end(name: string) {
      ends.get(name)?.();
      await settle();
    },
    settle,
  };
}

describe("turns", () => {
  test("limit how much runs at the same time, first come, first served within a party", async () => {
    const runs = makeRuns({ total: 2 });
    const all = ["1", "2", "3", "4"].map((name) => runs.start("a", name));
    await runs.settle();
    expect(runs.begun).toEqual(["1", "2"]);
    await runs.end("2");
    expect(runs.begun).toEqual(["1", "2", "3"]);
    await runs.end("1");
    await runs.end("3");
    await runs.end("4");
    expect(await Promise.all(all)).toEqual(["1", "2", "3", "4"]);
  });

  test("let a party begin at once while another fills all places with work that never ends", async () => {
    const runs = makeRuns({ total: 2 });
    for (const name of ["a1", "a2", "a3", "a4"]) void runs.start("a", name);
    void runs.start("b", "b1");
    await runs.settle();
    expect(runs.begun).toEqual(["a1", "a2", "b1"]);
    void runs.start("b", "b2");
    void runs.start("c", "c1");
    void runs.start("d", "d1");
    await runs.settle();
    expect(runs.begun, "at most twice as many").toEqual(["a1", "a2", "b1", "c1"]);
  });

  test("go to the party with the least running work, however many wait before it", async () => {
    const runs = makeRuns({ total: 2 });
    for (const name of ["a1", "a2", "a3", "a4", "a5"]) void runs.start("a", name);
    for (const name of ["b1", "b2", "c1", "c2"]) void runs.start(name.slice(0, 1), name);
    await runs.settle();
    expect(runs.begun).toEqual(["a1", "a2", "b1", "c1"]);
    await runs.end("b1");
    expect(runs.begun.at(-1)).toBe("b2");
    await runs.end("c1");
    expect(runs.begun.at(-1)).toBe("c2");
    await runs.end("a1");
    await runs.end("b2");
    await runs.end("a2");
    expect(runs.begun.slice(6)).toEqual(["a3"]);
  });

  test("limit each party", async () => {
    const runs = makeRuns({ total: 4, perParty: 1 });
    for (const name of ["a1", "a2", "b1"]) void runs.start(name.slice(0, 1), name);
    await runs.settle();
    expect(runs.begun).toEqual(["a1", "b1"]);
    await runs.end("a1");
    expect(runs.begun).toEqual(["a1", "b1", "a2"]);
  });

  test("are given up when the signal is aborted; others keep theirs", async () => {
    const runs = makeRuns({ total: 1 });
    void runs.start("a", "1");
    const stop = new AbortController();
    const gaveUp = runs.start("a", "2", stop.signal);
    void runs.start("a", "3");
    stop.abort(new Error("gone"));
    await expect(gaveUp).rejects.toThrow("gone");
    await expect(runs.start("a", "4", stop.signal)).rejects.toThrow("gone");
    await runs.end("1");
    expect(runs.begun).toEqual(["1", "3"]);
  });

  test("end with work that fails", async () => {
    const turns = createTurns({ total: 1 });
    await expect(turns.run("a", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await turns.run("a", async () => "next")).toBe("next");
  });
});
