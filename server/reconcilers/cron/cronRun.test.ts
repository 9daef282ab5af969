import { expect, test } from "vitest";
import { EdgeUnavailable, type TaskOrder, type TaskResult } from "../../clients/edgeClient.ts";
import { type DueEnvironment, runDueEvents } from "./cronRun.ts";

const now = 1_000_000;
const never = new AbortController().signal;
const environment: DueEnvironment = { id: "one", host: "one.localhost:8081", events: [{ place: null, dueAt: now }] };
const network: DueEnvironment = {
  ...environment,
  events: [
    { place: { host: "two.localhost", path: "/two/" }, dueAt: now - 5 },
    { place: { host: "one.localhost", path: "/" }, dueAt: now - 9 },
    { place: { host: "one.localhost", path: "/later/" }, dueAt: now + 1 },
  ],
};

function answer(
  ran: number,
  more: { readonly failed?: readonly object[]; readonly isCutShort?: boolean } = {},
): TaskResult {
  const body = JSON.stringify({ ran, failed: [], isCutShort: false, ...more });
  return { status: 200, body, errors: "", reason: null };
}
const silence = (reason: string): TaskResult => ({ status: 0, body: null, errors: "", reason });

/** An edge with these answers, in order, and the tasks it received. */
function edgeWith(answers: readonly (TaskResult | Error)[]) {
  const orders: TaskOrder[] = [];
  const runTask = async (order: TaskOrder) => {
    orders.push(order);
    const next = answers[orders.length - 1];
    if (next === undefined) throw new Error("Too many requests.");
    if (next instanceof Error) throw next;
    return next;
  };
  return { orders, runTask };
}

async function run(answers: readonly (TaskResult | Error)[], due = environment, clock = () => now) {
  const edge = edgeWith(answers);
  const report = await runDueEvents(due, { edge, now: clock }, never);
  return { report, orders: edge.orders };
}

test("a site gets one request, at its own address, in the background", async () => {
  const { report, orders } = await run([answer(3)]);
  expect(report).toEqual({ ran: 3, failed: [], error: null, isFailure: false });
  expect(orders).toMatchObject([
    {
      environmentId: "one",
      host: "one.localhost:8081",
      work: { task: "cron", input: { path: "/" } },
      isBackground: true,
    },
  ]);
});

test("each site of a network with due events gets a request at its own address, the most overdue first", async () => {
  const { report, orders } = await run([answer(1), answer(2)], network);
  expect(report.ran).toBe(3);
  expect(orders.map(({ host, work }) => [host, work])).toMatchObject([
    ["one.localhost", { input: { path: "/" } }],
    ["two.localhost", { input: { path: "/two/" } }],
  ]);
});

test("if an event ends PHP, the remaining events follow at once, in a limited number of requests", async () => {
  const cut = answer(1, { failed: [{ hook: "bad", message: "No memory." }], isCutShort: true });
  const { report } = await run([cut, answer(4)]);
  expect(report).toMatchObject({ ran: 5, failed: [{ hook: "bad" }], error: "bad: No memory.", isFailure: false });
  const { orders } = await run([cut, cut, cut, cut, cut]);
  expect(orders).toHaveLength(5);
});

test.each(["deadline", "crashed", "something new"])(
  "no answer because of %s is a failure, and is reported",
  async (reason) => {
    const { report, orders } = await run([silence(reason)], network);
    expect(report).toMatchObject({ ran: 0, isFailure: true, error: expect.stringMatching(/^PHP /) });
    expect(orders).toHaveLength(1);
  },
);

test.each(["busy", "frozen", "unfinished", "unavailable"])("%s is not a failure", async (reason) => {
  const { report } = await run([silence(reason)]);
  expect(report).toMatchObject({ isFailure: false, error: expect.any(String) });
});

test("an edge that is being restarted is not a failure", async () => {
  expect((await run([new EdgeUnavailable("gone")])).report).toMatchObject({
    isFailure: false,
    error: expect.any(String),
  });
});

test.each([null, "", "<html>", "[]", '{"ran":"3"}'])("an invalid answer is a failure: %j", async (body) => {
  const { report } = await run([{ status: 503, body, errors: "", reason: null }]);
  expect(report).toMatchObject({ isFailure: true, error: expect.stringContaining("503") });
});

test("a site of a network that does not answer does not block the others", async () => {
  const broken: TaskResult = { status: 500, body: null, errors: "", reason: null };
  const { report } = await run([broken, answer(1)], network);
  expect(report).toMatchObject({ ran: 1, isFailure: false, error: expect.stringContaining("500") });
});

test("when the time is used up, the other sites wait for the next run", async () => {
  const times = [now, now, now + 31_000];
  const { orders } = await run([answer(1)], network, () => times.shift() ?? now + 31_000);
  expect(orders).toHaveLength(1);
});

test("an unexpected error is thrown", async () => {
  await expect(run([new TypeError("oops")])).rejects.toThrow("oops");
});

test("long lists of failures are truncated", async () => {
  const failed = Array.from({ length: 100 }, (_, index) => ({
    hook: `hook-${index}`.repeat(100),
    message: "x".repeat(900),
  }));
  const { report } = await run([answer(100, { failed })]);
  expect(report.failed).toHaveLength(50);
  expect([report.failed[0]?.hook.length, report.failed[0]?.message.length]).toEqual([200, 500]);
  expect(report.error).toHaveLength(2_000);
});
