import { RuntimeFailure } from "@sitewright/runtimes/runtime.ts";
import { describe, expect, test } from "vitest";
import { ObjectStoreFailure } from "../../archives/objectStoreFailure.ts";
import { EdgeUnavailable } from "../../clients/edgeClient.ts";
import { testBackoffs } from "../../testing/engine.ts";
import { type AttemptOptions, attempt, pause, retryUntilDone, Stopping } from "./attempt.ts";
import { CrashLoop, DeadlineExceeded, diskFullReason, isTransient, publicReason } from "./failures.ts";
import { StepFailure } from "./operation.ts";

function options(more: Partial<AttemptOptions> = {}): AttemptOptions {
  return { deadlineSeconds: 5, backoff: testBackoffs.quickBackoff, stop: new AbortController().signal, ...more };
}

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}

const transient = new StepFailure("Busy.", { isTransient: true });

describe("attempt", () => {
  test("returns null if the work succeeds", async () => {
    expect(await attempt(async () => undefined, options())).toBeNull();
  });

  test("stops at once after a permanent error", async () => {
    let tries = 0;
    const error = await attempt(async () => {
      tries++;
      throw new StepFailure("No.");
    }, options());
    expect([tries, error?.message]).toEqual([1, "No."]);
  });

  test("retries a transient error until the deadline, and then returns it", async () => {
    const error = await attempt(
      async () => {
        throw transient;
      },
      options({ deadlineSeconds: 0.1 }),
    );
    expect(error).toBe(transient);
  });

  test("aborts the work at the deadline", async () => {
    const heeds = (signal: AbortSignal) =>
      new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    expect(await attempt(heeds, options({ deadlineSeconds: 0.05 }))).toBeInstanceOf(DeadlineExceeded);
  });

  test("abandons work that ignores its signal, and passes it to onAbandoned", async () => {
    const abandoned: Promise<unknown>[] = [];
    const never = () => new Promise<void>(() => undefined);
    const more = { deadlineSeconds: 0.05, onAbandoned: (work: Promise<unknown>) => abandoned.push(work) };
    expect(await attempt(never, options(more))).toBeInstanceOf(DeadlineExceeded);
    expect(abandoned.length).toBe(1);
  });

  test("returns null if the work succeeds in the grace period", async () => {
    const late = (signal: AbortSignal) => new Promise<void>((done) => signal.addEventListener("abort", () => done()));
    expect(await attempt(late, options({ deadlineSeconds: 0.05 }))).toBeNull();
  });

  test("rejects on shutdown, whether the work failed or succeeded", async () => {
    const stop = new AbortController();
    const work = async () => {
      stop.abort();
      throw transient;
    };
    await expect(attempt(work, options({ stop: stop.signal }))).rejects.toBeInstanceOf(Stopping);
    const succeeding = async () => stop.abort();
    await expect(attempt(succeeding, options({ stop: stop.signal }))).rejects.toBeInstanceOf(Stopping);
  });
});

describe("retryUntilDone", () => {
  test("repeats the work until it succeeds, and reports each failure", async () => {
    let tries = 0;
    const failures: string[] = [];
    const work = async () => {
      if (++tries < 4) throw new Error(`try ${tries}`);
      return "done";
    };
    const onFailure = (error: Error) => failures.push(error.message);
    const { stop } = options();
    expect(await retryUntilDone(work, { backoff: testBackoffs.quickBackoff, stop, onFailure })).toBe("done");
    expect(failures).toEqual(["try 1", "try 2", "try 3"]);
  });

  test("stops on shutdown, also during a pause", async () => {
    const stop = new AbortController();
    const backoff = { initialDelayMilliseconds: 60_000, maxDelayMilliseconds: 60_000, graceMilliseconds: 0 };
    const work = () => Promise.reject(new Error("no"));
    const retrying = retryUntilDone(work, { backoff, stop: stop.signal, onFailure: () => stop.abort() });
    await expect(retrying).rejects.toBeInstanceOf(Stopping);
    await pause(3, backoff, stop.signal);
  });
});

describe("failures", () => {
  test.each([
    [transient, true],
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
  ])("%s is transient: %s", (error, expected) => {
    expect(isTransient(error)).toBe(expected);
  });

  test.each([
    [new StepFailure("There is no room."), "There is no room."],
    [new RuntimeFailure("The language is not there."), "The language is not there."],
    [new DeadlineExceeded(3), "This took longer than 3 seconds and was aborted."],
    [new CrashLoop(), "The server stopped each time this was tried, so it was given up."],
    [withCode("ENOSPC"), diskFullReason],
    [new RuntimeFailure("Copying failed.", { cause: withCode("ENOSPC") }), diskFullReason],
    [withCode("53100"), diskFullReason],
  ])("users see the reason of %s", (error, expected) => {
    expect(publicReason(error, "ref")).toEqual({ text: expected, saysCause: true });
  });

  test("users see what happened to the archive store, but not its address", () => {
    const summary = "The archive store can't be reached.";
    const error = new ObjectStoreFailure("The archive store at http://10.0.0.7 can't be reached: it is off.", {
      isTransient: true,
      summary,
    });
    const text = `${summary} The operator finds the cause in the log under ref-1.`;
    expect(publicReason(error, "ref-1")).toEqual({ text, saysCause: false });
  });

  test.each([new Error("password=hunter2"), "hunter2", null, { message: "hunter2" }])(
    "users don't see other errors",
    (error) => {
      const reason = publicReason(error, "ref-1");
      expect(reason.text).not.toContain("hunter2");
      expect(reason).toMatchObject({ saysCause: false });
      expect(reason.text).toContain("ref-1");
    },
  );
});
