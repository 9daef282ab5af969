import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createLoginBrake, type LoginRefusal, type LoginTry, type LoginTurn } from "./loginBrake.ts";

const stays = new AbortController().signal;
const failed = { kind: "refused", reason: "failures" };
const full = { kind: "refused", reason: "full" };

type Turn = LoginTurn | LoginRefusal;

function tryOf(network: string, changes: Partial<LoginTry> = {}): LoginTry {
  return { environmentId: "one", network, user: null, by: "form", ...changes };
}

const program = (user: string | null = null) => ({ by: "program", user }) as const;

/** A brake with a clock that only moves when the test says so. */
function open() {
  let time = 1_000_000;
  const brake = createLoginBrake(() => time);
  const enter = (network: string, changes: Partial<LoginTry> = {}, left = stays) =>
    brake.enter(tryOf(network, changes), left);
  const watch = (network: string) => brake.watch(tryOf(network));
  const begin = async (network: string, changes: Partial<LoginTry> = {}) => {
    const turn = await enter(network, changes);
    if (turn.kind === "refused") throw new Error(`refused: ${turn.reason}`);
    return turn;
  };
  const attempt = async (
    network: string,
    outcome: "failed" | "succeeded",
    user: string | null = "ada",
    changes: Partial<LoginTry> = {},
  ) => {
    const turn = await begin(network, changes);
    turn.begin();
    turn.note(outcome, user);
    turn.leave();
  };
  const fail = async (network: string, times: number, changes: Partial<LoginTry> = {}) => {
    for (let index = 0; index < times; index += 1) await attempt(network, "failed", "ada", changes);
  };
  /** Fifty failures from different networks. */
  const attack = async () => {
    for (let index = 0; index < 50; index += 1) await fail(`bot ${index}`, 1);
  };
  const advance = (seconds: number) => (time += seconds * 1_000);
  return { enter, watch, begin, attempt, fail, attack, advance, brake };
}

/** Whether the attempt still waits, after everything that is ready has run. */
async function isWaiting(turn: Promise<Turn>): Promise<boolean> {
  const pending = Symbol("pending");
  for (let round = 0; round < 10; round += 1) await Promise.resolve();
  return (await Promise.race([turn, Promise.resolve(pending)])) === pending;
}

describe("a network", () => {
  test("is refused for ten minutes after five failures, at that site only", async () => {
    const { enter, fail, advance, brake } = open();
    await fail("a", 5);
    expect(await enter("a")).toEqual({ ...failed, seconds: 600 });
    expect(brake.refusalOf(tryOf("a"))).toMatchObject(failed);
    expect((await enter("a", { environmentId: "two" })).kind).toBe("allowed");
    expect((await enter("b")).kind).toBe("allowed");
    advance(599);
    expect(await enter("a")).toEqual({ ...failed, seconds: 1 });
    advance(1);
    expect((await enter("a")).kind).toBe("allowed");
    expect(brake.refusalOf(tryOf("a"))).toBeNull();
  });

  test("gets five attempts within ten minutes, however they are spread", async () => {
    const { enter, fail, advance } = open();
    for (let index = 0; index < 5; index += 1) {
      await fail("a", 1);
      advance(100);
    }
    expect(await enter("a")).toEqual({ ...failed, seconds: 100 });
  });

  test("is forgiven a user's failures when that user logs in", async () => {
    const { enter, fail, attempt } = open();
    await fail("a", 4);
    await attempt("a", "succeeded");
    await fail("a", 4);
    expect((await enter("a")).kind).toBe("allowed");
  });

  test("is not forgiven failures of others when a user logs in", async () => {
    const { enter, fail, attempt } = open();
    await fail("a", 4);
    await attempt("a", "failed", null);
    expect(await enter("a")).toMatchObject(failed);
    const { enter: enterAgain, fail: failAgain, attempt: attemptAgain } = open();
    await failAgain("a", 4);
    await attemptAgain("a", "succeeded", "mallory");
    await failAgain("a", 1);
    expect(await enterAgain("a")).toMatchObject(failed);
  });

  test("is refused for failures elsewhere at the site, such as in a shop's form", async () => {
    const { enter, watch } = open();
    for (let index = 0; index < 5; index += 1) watch("a").note("failed", "ada");
    expect(await enter("a")).toMatchObject(failed);
  });

  test("gets five attempts, even if it sends many at once", async () => {
    const { enter, begin } = open();
    const running = await Promise.all([1, 2, 3, 4, 5].map(() => begin("a")));
    const waiting = [1, 2, 3].map(() => enter("a"));
    expect(await enter("a")).toMatchObject(full);
    for (const turn of running) {
      turn.note("failed", "ada");
      turn.leave();
    }
    for (const turn of waiting) expect(await turn).toMatchObject(failed);
  });

  test("gets more at once if they succeed", async () => {
    const { enter, begin } = open();
    const running = await Promise.all([1, 2, 3, 4, 5].map(() => begin("a")));
    const waiting = enter("a");
    expect(await isWaiting(waiting)).toBe(true);
    running[0]?.note("succeeded", "ada");
    running[0]?.leave();
    expect((await waiting).kind).toBe("allowed");
  });

  test("does not wait longer than 20 seconds", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { enter, begin } = open();
    await Promise.all([1, 2, 3, 4, 5].map(() => begin("a")));
    const waiting = enter("a");
    vi.advanceTimersByTime(19_999);
    expect(await isWaiting(waiting)).toBe(true);
    vi.advanceTimersByTime(1);
    expect(await waiting).toMatchObject(full);
  });
});

describe("a request that may be a login among others", () => {
  test("is judged when PHP begins, not when it arrives", () => {
    const { watch } = open();
    const all = Array.from({ length: 100 }, () => watch("a"));
    const begun = all.map((turn) => {
      const isAllowed = turn.begin();
      turn.note("failed", "ada");
      turn.leave();
      return isAllowed;
    });
    expect(begun.filter(Boolean).length).toBe(5);
  });

  test("counts as a failure while it runs, but only if there was one", () => {
    const { watch } = open();
    const all = Array.from({ length: 20 }, () => watch("a"));
    const [first, ...others] = all.slice(0, 8);
    expect(all.slice(0, 8).every((turn) => turn.begin())).toBe(true);
    first?.note("failed", "ada");
    first?.leave();
    expect(all[8]?.begin()).toBe(false);
    // WordPress reports the refused one as failed, which must not count.
    all[8]?.note("failed", "ada");
    for (const turn of others) turn.leave();
    expect(all.slice(9).map((turn) => turn.begin())).toEqual([
      ...[true, true, true, true],
      ...[false, false, false, false, false, false, false],
    ]);
  });

  test("is counted once if it begins twice, and not at all if it begins when it is over", () => {
    const { watch } = open();
    watch("a").note("failed", "ada");
    const turn = watch("a");
    for (let index = 0; index < 10; index += 1) expect(turn.begin()).toBe(true);
    turn.leave();
    for (let index = 0; index < 10; index += 1) {
      const over = watch("a");
      over.leave();
      over.begin();
    }
    expect(watch("a").begin()).toBe(true);
  });

  test("is no further failure if it was refused", async () => {
    const { watch, fail, advance, brake } = open();
    await fail("a", 5);
    advance(300);
    const refused = watch("a");
    expect(refused.begin()).toBe(false);
    refused.note("failed", "ada");
    expect(brake.refusalOf(tryOf("a"))).toMatchObject({ seconds: 300 });
  });
});

describe("a program with a password", () => {
  test("may send many requests at once while none has failed", async () => {
    const { begin } = open();
    await Promise.all(Array.from({ length: 100 }, () => begin("a", program())));
  });

  test("is judged again when PHP begins", async () => {
    const { begin } = open();
    const turns = await Promise.all(Array.from({ length: 100 }, () => begin("a", program("ada"))));
    const begun = turns.map((turn) => {
      const isAllowed = turn.begin();
      turn.note("failed", null);
      turn.leave();
      return isAllowed;
    });
    expect(begun.filter(Boolean).length).toBe(5);
  });

  test("waits after a failure of the network, unless its user has logged in there", async () => {
    const { begin, enter, attempt } = open();
    await attempt("a", "succeeded", null, program("ada"));
    await attempt("a", "failed", "bob");
    await Promise.all([1, 2, 3, 4].map(() => begin("a", program("eve"))));
    expect(await isWaiting(enter("a", program("eve")))).toBe(true);
    await Promise.all(Array.from({ length: 100 }, () => begin("a", program("ada"))));
  });

  test("of a user who has logged in there works after failures of others, and not after its own", async () => {
    const { begin, attempt, enter } = open();
    await attempt("a", "succeeded", null, program("ada"));
    for (let index = 0; index < 5; index += 1) await attempt("a", "failed", "bob");
    expect(await enter("a", program("bob"))).toMatchObject(failed);
    expect(await enter("b", program("ada"))).toMatchObject({ kind: "allowed" });
    await begin("a", program("ada"));
    for (let index = 0; index < 5; index += 1) await attempt("a", "failed", null, program("ada"));
    expect(await enter("a", program("ada"))).toMatchObject(failed);
  });

  test("can't hide guesses of another user's password behind its own name", async () => {
    const { attempt, enter } = open();
    await attempt("a", "succeeded", "mallory");
    for (let index = 0; index < 4; index += 1) await attempt("a", "failed", "ada", program("mallory"));
    await attempt("a", "succeeded", "mallory");
    await attempt("a", "failed", "ada", program("mallory"));
    expect(await enter("a", program("mallory"))).toMatchObject(failed);
  });
});

describe("a site with many failures", () => {
  test("lets new networks log in, one after the other", async () => {
    const { attack, begin, enter } = open();
    await attack();
    const first = await begin("owner");
    const next = [enter("b"), enter("c")] as const;
    expect([await isWaiting(next[0]), await isWaiting(next[1])]).toEqual([true, true]);
    first.leave();
    const second = await next[0];
    expect([second.kind, await isWaiting(next[1])]).toEqual(["allowed", true]);
    if (second.kind === "allowed") second.leave();
    expect((await next[1]).kind).toBe("allowed");
  });

  test("lets networks that have logged in before go first", async () => {
    const { attack, begin, attempt } = open();
    await attempt("owner", "succeeded");
    await attack();
    await begin("a");
    await begin("owner");
  });

  test("does not let new networks wait for those that have logged in before", async () => {
    const { attack, begin, attempt } = open();
    await attempt("client", "succeeded");
    await attack();
    await begin("client");
    await begin("owner");
  });

  test("lets programs of new networks take turns, too", async () => {
    const { attack, begin, enter } = open();
    await attack();
    await begin("a", program());
    expect(await isWaiting(enter("b", program()))).toBe(true);
  });

  test("is not one whose failures come from few networks", async () => {
    const { fail, attempt, begin, enter } = open();
    for (let round = 0; round < 20; round += 1) {
      await fail("a", 4);
      await attempt("a", "succeeded");
    }
    await fail("a", 5);
    for (let index = 0; index < 100; index += 1) expect(await enter("a")).toMatchObject(failed);
    await begin("b");
    await begin("c");
  });

  test("refuses more than fifty waiting attempts, and forgets visitors who leave", async () => {
    const { attack, begin, enter } = open();
    await attack();
    const { leave } = await begin("a");
    const visitor = new AbortController();
    const gone = enter("gone", {}, visitor.signal);
    const waiting = Array.from({ length: 49 }, (_, index) => enter(`waiting ${index}`));
    expect(await enter("late")).toEqual({ ...full, seconds: 10 });
    visitor.abort();
    expect((await gone).kind).toBe("refused");
    const late = enter("late");
    expect(await isWaiting(late)).toBe(true);
    leave();
    expect((await waiting[0])?.kind).toBe("allowed");
  });

  test("has one place to wait for each network", async () => {
    const { attack, begin, enter } = open();
    await attack();
    await begin("a");
    expect(await isWaiting(enter("b"))).toBe(true);
    expect(await enter("b")).toMatchObject(full);
  });

  test("is as before after ten minutes, and other sites are not affected", async () => {
    const { attack, begin, advance } = open();
    await attack();
    await begin("a", { environmentId: "two" });
    await begin("b", { environmentId: "two" });
    advance(600);
    await begin("a");
    await begin("b");
  });
});

test("a flood of networks is forgotten, oldest first", async () => {
  const { brake, fail } = open();
  await fail("a", 5);
  for (let index = 0; index < 50_000; index += 1) {
    brake.watch(tryOf(`flood ${index}`, { environmentId: "two" })).note("failed", null);
  }
  expect(brake.refusalOf(tryOf("a"))).toBeNull();
});
