import { describe, expect, test } from "vitest";
import { defaultBackOff, keepRunning } from "./keepRunning.ts";
import type { Exit, Run, Service } from "./service.ts";
import { until } from "./testing/until.ts";

interface Scripted extends Service {
  readonly started: () => number;
  /** Ends the current run. */
  end(exit?: Partial<Exit>): void;
}

/** A service whose starts succeed or fail as the script says. After the end of the script they succeed. */
function scripted(script: readonly ("runs" | "fails")[] = []): Scripted {
  let started = 0;
  let end: (exit: Exit) => void = () => undefined;
  return {
    name: "engine",
    logPath: "/logs/engine.log",
    started: () => started,
    end: (exit) => end({ code: 1, signal: null, lastLines: ["out of oil"], ...exit }),
    async start(): Promise<Run> {
      if (script[started++] === "fails") {
        throw new Error("No spark.");
      }
      const exit = Promise.withResolvers<Exit>();
      end = exit.resolve;
      const finish = () => exit.resolve({ code: 0, signal: null, lastLines: [] });
      return { exited: exit.promise, kill: finish, stop: async () => finish() };
    },
  };
}

const shortBackOff = () => 1;

describe("a supervised service", () => {
  test("is restarted whenever it crashes", async () => {
    const service = scripted();
    const messages: string[] = [];
    const supervised = await keepRunning(service, {
      report: (sentence) => messages.push(sentence),
      backOff: shortBackOff,
    });
    const isRestarted = (message: string) => message === "engine is running again.";
    for (const starts of [2, 3]) {
      service.end();
      await until("it was restarted", () => messages.filter(isRestarted).length === starts - 1);
      expect(service.started()).toBe(starts);
    }
    expect(messages[0]).toBe(
      "engine ended (exit code 1). Restarting in 0.0 s. Last output:\n    out of oil\n  Full log: /logs/engine.log",
    );
    await supervised.stop();
  });

  test("is not restarted after it was stopped", async () => {
    const service = scripted();
    const supervised = await keepRunning(service, { report: () => undefined });
    await supervised.stop();
    expect(service.started()).toBe(1);
    expect(supervised.current()).toBe(null);
  });

  test.each([{ code: 0 }, { code: null, signal: "SIGTERM" }] as const)(
    "is not restarted after it was asked to stop: %o",
    async (exit) => {
      const service = scripted();
      const ended = Promise.withResolvers<void>();
      const supervised = await keepRunning(service, { report: () => undefined, ended: ended.resolve });
      service.end(exit);
      await ended.promise;
      await supervised.stop();
      expect(service.started()).toBe(1);
    },
  );

  test("can be stopped while it waits for its restart", async () => {
    const service = scripted();
    const messages: string[] = [];
    const supervised = await keepRunning(service, {
      report: (sentence) => messages.push(sentence),
      backOff: () => 3_600_000,
    });
    service.end();
    await until("it waits", () => messages.length === 1);
    await supervised.stop();
    expect(service.started()).toBe(1);
  });

  test("gets three attempts at its first start, then fails with the reason", async () => {
    const lucky = await keepRunning(scripted(["fails", "fails", "runs"]), {
      report: () => undefined,
      backOff: shortBackOff,
    });
    await lucky.stop();
    const hopeless = keepRunning(scripted(["fails", "fails", "fails"]), {
      report: () => undefined,
      backOff: shortBackOff,
    });
    await expect(hopeless).rejects.toThrow("engine did not start in 3 attempts. No spark.");
  });

  test("is retried forever once it has run", async () => {
    const service = scripted(["runs", ...Array.from({ length: 10 }, () => "fails" as const)]);
    const messages: string[] = [];
    const supervised = await keepRunning(service, {
      report: (sentence) => messages.push(sentence),
      backOff: shortBackOff,
    });
    service.end();
    await until("it is running again", () => messages.includes("engine is running again."));
    expect(messages.filter((message) => message === "engine did not start. No spark.")).toHaveLength(10);
    await supervised.stop();
  });
});

test("the back-off starts at zero and grows to ten seconds", () => {
  expect([0, 1, 2, 3, 6, 7, 50].map(defaultBackOff)).toEqual([0, 250, 500, 1_000, 8_000, 10_000, 10_000]);
});
