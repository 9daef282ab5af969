import { expect, test } from "vitest";
import { EdgeUnavailable, type TaskOrder, type TaskResult } from "../../clients/edgeClient.ts";
import { makeSiteTasks } from "./siteTasks.ts";

const done: TaskResult = { status: 200, body: "{}", errors: "", reason: null };
const order = (environmentId: string, companyId = "company") => ({
  companyId,
  environmentId,
  host: "x.localhost",
  work: { task: "describe", input: {} } satisfies TaskOrder["work"],
  deadlineSeconds: 5,
});

/** An edge whose tasks end when `finish` is called. */
function open(waitSeconds?: number) {
  const begun: string[] = [];
  const running = new Map<string, () => void>();
  const edge = {
    runTask: ({ environmentId }: TaskOrder) =>
      new Promise<TaskResult>((resolve) => {
        begun.push(environmentId);
        running.set(environmentId, () => resolve(done));
      }),
    offerLogin: async () => true,
  };
  return { begun, tasks: makeSiteTasks(edge, waitSeconds), finish: (id: string) => running.get(id)?.() };
}

test("an environment runs one task at a time; others wait", async () => {
  const { begun, tasks, finish } = open();
  const [first, next] = [tasks.run(order("one")), tasks.run(order("one"))];
  await expect.poll(() => begun).toEqual(["one"]);
  finish("one");
  expect(await first).toEqual(done);
  await expect.poll(() => begun).toEqual(["one", "one"]);
  finish("one");
  expect(await next).toEqual(done);
});

test("companies take turns: one with many tasks lets others begin at once", async () => {
  const { begun, tasks, finish } = open();
  const busy = ["a", "b", "c", "d", "e"].map((id) => tasks.run(order(id, "busy")));
  const other = tasks.run(order("x", "other"));
  await expect.poll(() => begun).toEqual(["a", "b", "x"]);
  finish("x");
  expect(await other).toEqual(done);
  for (const id of ["a", "b", "c", "d", "e"]) {
    await expect.poll(() => begun).toContain(id);
    finish(id);
  }
  expect(await Promise.all(busy)).toEqual(Array(5).fill(done));
});

test("a task that would wait for too long is busy", async () => {
  const { begun, tasks, finish } = open(0.05);
  const first = tasks.run(order("one"));
  await expect.poll(() => begun).toEqual(["one"]);
  expect(await tasks.run(order("one"))).toMatchObject({ reason: "busy" });
  finish("one");
  expect(await first).toEqual(done);
});

test("if the edge can't be reached, the task is unavailable, and the environment can run another", async () => {
  const gone = async () => {
    throw new EdgeUnavailable("gone");
  };
  const tasks = makeSiteTasks({ runTask: gone, offerLogin: gone });
  for (const _ of [1, 2]) expect(await tasks.run(order("one"))).toMatchObject({ status: 0, reason: "unavailable" });
  expect(await tasks.offerLogin({ hash: "", environmentId: "one", userId: 1, login: "a", seconds: 60 })).toBe(false);
});

test("unexpected errors are not treated as an unavailable edge", async () => {
  const broken = async () => {
    throw new TypeError("broken");
  };
  const tasks = makeSiteTasks({ runTask: broken, offerLogin: broken });
  await expect(tasks.run(order("one"))).rejects.toThrow("broken");
});
