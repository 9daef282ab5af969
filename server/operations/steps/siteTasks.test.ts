import { expect, test } from "vitest";
import { EdgeUnavailable, type TaskOrder, type TaskResult } from "../../clients/edgeClient.ts";
import { makeSiteTasks } from "./siteTasks.ts";

const done: TaskResult = { status: 200, body: "{}", errors: "", reason: null };
const order = (environmentId: string): TaskOrder => ({
  environmentId,
  host: "x.localhost",
  work: { task: "describe", input: {} },
  deadlineSeconds: 5,
});

/** An edge whose tasks end when `finish` is called. */
function open() {
  const running = new Map<string, () => void>();
  const tasks = makeSiteTasks({
    runTask: ({ environmentId }) =>
      new Promise((resolve) => {
        running.set(environmentId, () => resolve(done));
      }),
    offerLogin: async () => true,
  });
  return { tasks, finish: (id: string) => running.get(id)?.() };
}

test("an environment runs one task at a time", async () => {
  const { tasks, finish } = open();
  const first = tasks.run(order("one"));
  expect(await tasks.run(order("one"))).toMatchObject({ reason: "busy" });
  finish("one");
  expect(await first).toEqual(done);
  const next = tasks.run(order("one"));
  finish("one");
  expect(await next).toEqual(done);
});

test("at most four tasks run in all environments together", async () => {
  const { tasks, finish } = open();
  const ids = ["a", "b", "c", "d"];
  const running = ids.map((id) => tasks.run(order(id)));
  expect(await tasks.run(order("e"))).toMatchObject({ reason: "busy" });
  for (const id of ids) finish(id);
  expect(await Promise.all(running)).toEqual([done, done, done, done]);
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
