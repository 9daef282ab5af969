import { RuntimeFailure } from "@sitewright/runtimes/runtime.ts";
import { describe, expect, test } from "vitest";
import { ObjectStoreFailure } from "../../archives/objectStoreFailure.ts";
import { EdgeUnavailable } from "../../clients/edgeClient.ts";
import { testPaces } from "../../testing/engine.ts";
import { type AttemptOptions, attempt, insist, pause, Stopping } from "./attempt.ts";
import { CrashLoop, DeadlinePassed, diskFullReason, isTransient, publicReason } from "./failures.ts";
import { StepFailure } from "./operation.ts";

function options(more: Partial<AttemptOptions> = {}): AttemptOptions {
  return { deadlineSeconds: 5, pace: testPaces.quickPace, stop: new AbortController().signal, ...more };
}

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}

const passing = new StepFailure("Busy.", { isTransient: true });

describe("attempt", () => {
  test("null for work that is done", async () => {
    expect(await attempt(async () => undefined, options())).toBeNull();
  });

  test("an error that does not pass ends it at once", async () => {
    let tries = 0;
    const error = await attempt(async () => {
      tries++;
      throw new StepFailure("No.");
    }, options());
    expect([tries, error?.message]).toEqual([1, "No."]);
  });

  test("an error that passes is tried again until the deadline, and then is the reason", async () => {
    const error = await attempt(
      async () => {
        throw passing;
      },
      options({ deadlineSeconds: 0.1 }),
    );
    expect(error).toBe(passing);
  });

  test("work that heeds its signal is given up at the deadline", async () => {
    const heeds = (signal: AbortSignal) =>
      new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    expect(await attempt(heeds, options({ deadlineSeconds: 0.05 }))).toBeInstanceOf(DeadlinePassed);
  });

  test("work that ignores its signal is left behind, and handed over", async () => {
    const left: Promise<unknown>[] = [];
    const never = () => new Promise<void>(() => undefined);
    const more = { deadlineSeconds: 0.05, onLeftOver: (work: Promise<unknown>) => left.push(work) };
    expect(await attempt(never, options(more))).toBeInstanceOf(DeadlinePassed);
    expect(left.length).toBe(1);
  });

  test("what ends well in the time of grace counts", async () => {
    const late = (signal: AbortSignal) => new Promise<void>((done) => signal.addEventListener("abort", () => done()));
    expect(await attempt(late, options({ deadlineSeconds: 0.05 }))).toBeNull();
  });

  test("a process that stops records neither failure nor success", async () => {
    const stop = new AbortController();
    const work = async () => {
      stop.abort();
      throw passing;
    };
    await expect(attempt(work, options({ stop: stop.signal }))).rejects.toBeInstanceOf(Stopping);
    const well = async () => stop.abort();
    await expect(attempt(well, options({ stop: stop.signal }))).rejects.toBeInstanceOf(Stopping);
  });
});

describe("insist", () => {
  test("repeats until it succeeds and tells of every failure", async () => {
    let tries = 0;
    const told: string[] = [];
    const work = async () => {
      if (++tries < 4) throw new Error(`try ${tries}`);
      return "done";
    };
    const onFailure = (error: Error) => told.push(error.message);
    const { stop } = options();
    expect(await insist(work, { pace: testPaces.quickPace, stop, onFailure })).toBe("done");
    expect(told).toEqual(["try 1", "try 2", "try 3"]);
  });

  test("ends when the process does, also in a pause", async () => {
    const stop = new AbortController();
    const pace = { firstPauseMilliseconds: 60_000, longestPauseMilliseconds: 60_000, graceMilliseconds: 0 };
    const work = () => Promise.reject(new Error("no"));
    const insisting = insist(work, { pace, stop: stop.signal, onFailure: () => stop.abort() });
    await expect(insisting).rejects.toBeInstanceOf(Stopping);
    await pause(3, pace, stop.signal);
  });
});

describe("failures", () => {
  test.each([
    [passing, true],
    [new StepFailure("No."), false],
    [new RuntimeFailure("No."), false],
    [new EdgeUnavailable("No."), true],
    [withCode("ECONNREFUSED"), true],
    [withCode("57P01"), true],
    [withCode("08006"), true],
    [withCode("40P01"), true],
    [new Error("query failed", { cause: withCode("ECONNRESET") }), true],
    [new AggregateError([withCode("ECONNREFUSED")], "all failed"), true],
    [new Error("Connection terminated unexpectedly"), true],
    [withCode("23505"), false],
    [withCode("ENOSPC"), false],
    [new TypeError("x is not a function"), false],
    ["thrown text", false],
  ])("%s passes by itself: %s", (error, expected) => {
    expect(isTransient(error)).toBe(expected);
  });

  test.each([
    [new StepFailure("There is no room."), "There is no room."],
    [new RuntimeFailure("The language is not there."), "The language is not there."],
    [new DeadlinePassed(3), "This took longer than 3 seconds and was given up."],
    [new CrashLoop(), "The server stopped each time this was tried, so it was given up."],
    [withCode("ENOSPC"), diskFullReason],
    [new RuntimeFailure("Copying failed.", { cause: withCode("ENOSPC") }), diskFullReason],
    [withCode("53100"), diskFullReason],
  ])("the customer reads the reason of %s", (error, expected) => {
    expect(publicReason(error, "ref")).toEqual({ text: expected, saysCause: true });
  });

  test("of a store that failed the customer reads what it did, and not where it is", () => {
    const summary = "The archive store can't be reached.";
    const error = new ObjectStoreFailure("The archive store at http://10.0.0.7 can't be reached: it is off.", {
      isTransient: true,
      summary,
    });
    const text = `${summary} The operator finds the cause in the log under ref-1.`;
    expect(publicReason(error, "ref-1")).toEqual({ text, saysCause: false });
  });

  test.each([new Error("password=hunter2"), "hunter2", null, { message: "hunter2" }])(
    "anything else is kept from the customer",
    (error) => {
      const reason = publicReason(error, "ref-1");
      expect(reason.text).not.toContain("hunter2");
      expect(reason).toMatchObject({ saysCause: false });
      expect(reason.text).toContain("ref-1");
    },
  );
});
