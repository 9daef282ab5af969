import { describe, expect, test } from "vitest";
import { createLoginBrake, type LoginTurn } from "./loginBrake.ts";

const stays = new AbortController().signal;
const failed = { kind: "refused", reason: "failures" };
const full = { kind: "refused", reason: "full" };

/** A brake with a clock that only moves when the test says so. */
function open() {
  let time = 1_000_000;
  const brake = createLoginBrake(() => time);
  const targetOf = (network: string, environmentId: string) => ({ environmentId, network });
  const enter = (network: string, environmentId = "one", left = stays) =>
    brake.enter(targetOf(network, environmentId), left);
  const begin = async (network: string, environmentId = "one") => {
    const turn = await enter(network, environmentId);
    if (turn.kind === "refused") throw new Error(`refused: ${turn.reason}`);
    return turn;
  };
  const note = (network: string, outcome: "failed" | "succeeded", environmentId = "one") =>
    brake.note(targetOf(network, environmentId), outcome);
  const attempt = async (network: string, outcome: "failed" | "succeeded", environmentId = "one") => {
    const { leave } = await begin(network, environmentId);
    note(network, outcome, environmentId);
    leave();
  };
  const fail = async (network: string, times: number, environmentId = "one") => {
    for (let index = 0; index < times; index += 1) await attempt(network, "failed", environmentId);
  };
  /** Fifty failures from different networks. */
  const attack = async () => {
    for (let index = 0; index < 50; index += 1) await fail(`bot ${index}`, 1);
  };
  return { enter, begin, note, attempt, fail, attack, advance: (seconds: number) => (time += seconds * 1_000), brake };
}

/** Whether the attempt still waits, after everything that is ready has run. */
async function isWaiting(turn: Promise<LoginTurn>): Promise<boolean> {
  const pending = Symbol("pending");
  for (let round = 0; round < 10; round += 1) await Promise.resolve();
  return (await Promise.race([turn, Promise.resolve(pending)])) === pending;
}

describe("a network", () => {
  test("is refused for ten minutes after five failures, at that site only", async () => {
    const { enter, fail, advance, brake } = open();
    await fail("a", 5);
    expect(await enter("a")).toEqual({ ...failed, seconds: 600 });
    expect(brake.refusalOf({ environmentId: "one", network: "a" })).toMatchObject(failed);
    expect((await enter("a", "two")).kind).toBe("allowed");
    expect((await enter("b")).kind).toBe("allowed");
    advance(599);
    expect(await enter("a")).toEqual({ ...failed, seconds: 1 });
    advance(1);
    expect((await enter("a")).kind).toBe("allowed");
    expect(brake.refusalOf({ environmentId: "one", network: "a" })).toBeNull();
  });

  test("starts again after a success", async () => {
    const { enter, fail, attempt } = open();
    await fail("a", 4);
    await attempt("a", "succeeded");
    await fail("a", 4);
    expect((await enter("a")).kind).toBe("allowed");
  });

  test("is refused for failures elsewhere at the site, such as in a shop's form", async () => {
    const { enter, note } = open();
    for (let index = 0; index < 5; index += 1) note("a", "failed");
    expect(await enter("a")).toMatchObject(failed);
  });

  test("gets five attempts, even if it sends many at once", async () => {
    const { enter, begin, note } = open();
    const running = await Promise.all([1, 2, 3, 4, 5].map(() => begin("a")));
    const waiting = [1, 2, 3].map(() => enter("a"));
    expect(await enter("a")).toMatchObject(full);
    for (const { leave } of running) {
      note("a", "failed");
      leave();
    }
    for (const turn of waiting) expect(await turn).toMatchObject(failed);
  });

  test("gets more at once if they succeed", async () => {
    const { enter, begin, note } = open();
    const running = await Promise.all([1, 2, 3, 4, 5].map(() => begin("a")));
    const waiting = enter("a");
    expect(await isWaiting(waiting)).toBe(true);
    note("a", "succeeded");
    running[0]?.leave();
    expect((await waiting).kind).toBe("allowed");
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

  test("refuses more than fifty waiting attempts, and forgets visitors who leave", async () => {
    const { attack, begin, enter } = open();
    await attack();
    const { leave } = await begin("a");
    const visitor = new AbortController();
    const gone = enter("gone", "one", visitor.signal);
    const waiting = Array.from({ length: 49 }, (_, index) => enter(`waiting ${index}`));
    expect(await enter("late")).toEqual({ ...full, seconds: 10 });
    visitor.abort();
    expect((await gone).kind).toBe("refused");
    const late = enter("late");
    expect(await isWaiting(late)).toBe(true);
    leave();
    expect((await waiting[0])?.kind).toBe("allowed");
  });

  test("is as before after ten minutes, and other sites are not affected", async () => {
    const { attack, begin, advance } = open();
    await attack();
    await begin("a", "two");
    await begin("b", "two");
    advance(600);
    await begin("a");
    await begin("b");
  });
});

test("a flood of networks is forgotten, oldest first", async () => {
  const { note, brake } = open();
  for (let index = 0; index < 5; index += 1) note("a", "failed");
  for (let index = 0; index < 50_000; index += 1) note(`flood ${index}`, "failed", "two");
  expect(brake.refusalOf({ environmentId: "one", network: "a" })).toBeNull();
});
