import { describe, expect, test } from "vitest";
import { keepRunning, usualBackOff } from "./keepRunning.ts";
import type { Ended, Part, Run } from "./part.ts";
import { until } from "./testing/until.ts";

interface Scripted extends Part {
  readonly started: () => number;
  /** Ends the run of now. */
  end(): void;
}

/** A part whose starts succeed or fail as the script says; after the script they succeed. */
function scripted(script: readonly ("runs" | "fails")[] = []): Scripted {
  let started = 0;
  let end: (ended: Ended) => void = () => undefined;
  return {
    name: "engine",
    logPath: "/logs/engine.log",
    started: () => started,
    end: () => end({ code: 1, signal: null, lastWords: ["out of oil"] }),
    async start(): Promise<Run> {
      if (script[started++] === "fails") {
        throw new Error("No spark.");
      }
      const ended = Promise.withResolvers<Ended>();
      end = ended.resolve;
      const finish = () => ended.resolve({ code: 0, signal: null, lastWords: [] });
      return { exited: ended.promise, kill: finish, stop: async () => finish() };
    },
  };
}

const impatient = () => 1;

describe("a part that is kept running", () => {
  test("is started again whenever it ends", async () => {
    const part = scripted();
    const said: string[] = [];
    const kept = await keepRunning(part, { report: (sentence) => said.push(sentence), backOff: impatient });
    for (const times of [2, 3]) {
      part.end();
      await until("it was started again", () => said.filter((s) => s === "engine runs again.").length === times - 1);
      expect(part.started()).toBe(times);
    }
    expect(said[0]).toBe(
      "engine ended (exit code 1) and is started again in 0.0 s. Its last words:\n    out of oil\n  More is in /logs/engine.log",
    );
    await kept.stop();
  });

  test("is not started again after it was stopped", async () => {
    const part = scripted();
    const kept = await keepRunning(part, { report: () => undefined });
    await kept.stop();
    expect(part.started()).toBe(1);
    expect(kept.current()).toBe(null);
  });

  test("can be stopped while it waits for its next start", async () => {
    const part = scripted();
    const said: string[] = [];
    const kept = await keepRunning(part, { report: (sentence) => said.push(sentence), backOff: () => 3_600_000 });
    part.end();
    await until("it waits", () => said.length === 1);
    await kept.stop();
    expect(part.started()).toBe(1);
  });

  test("gets three attempts at first, and then its reason is told", async () => {
    const lucky = await keepRunning(scripted(["fails", "fails", "runs"]), {
      report: () => undefined,
      backOff: impatient,
    });
    await lucky.stop();
    const hopeless = keepRunning(scripted(["fails", "fails", "fails"]), {
      report: () => undefined,
      backOff: impatient,
    });
    await expect(hopeless).rejects.toThrow("engine did not start, in 3 attempts. No spark.");
  });

  test("that ran once is never given up", async () => {
    const part = scripted(["runs", ...Array.from({ length: 10 }, () => "fails" as const)]);
    const said: string[] = [];
    const kept = await keepRunning(part, { report: (sentence) => said.push(sentence), backOff: impatient });
    part.end();
    await until("it runs again", () => said.includes("engine runs again."));
    expect(said.filter((sentence) => sentence === "engine did not start. No spark.")).toHaveLength(10);
    await kept.stop();
  });
});

test("restarts begin at once and settle at one every ten seconds", () => {
  expect([0, 1, 2, 3, 6, 7, 50].map(usualBackOff)).toEqual([0, 250, 500, 1_000, 8_000, 10_000, 10_000]);
});
