import { expect, test } from "vitest";
import { createLanes } from "./lanes.ts";

/** Work that is done when the test says so, and the names of what has begun, in order. */
function works() {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const work = (name: string) => () => {
    begun.push(name);
    const end = Promise.withResolvers<string>();
    ends.set(name, end);
    return end.promise;
  };
  return { begun, work, end: (name: string) => ends.get(name) };
}

test("of each environment only so many are under way, and nobody waits for another's", async () => {
  const { begun, work } = works();
  const lanes = createLanes(2);
  for (const name of ["a1", "a2", "a3", "a4"]) void lanes.run("a", work(name));
  void lanes.run("b", work("b1"));
  expect(begun).toEqual(["a1", "a2", "b1"]);
});

test("who waits begins when one is done, in the order in which they came, and hears what came of it", async () => {
  const { begun, work, end } = works();
  const lanes = createLanes(1);
  const [first, second, third] = ["1", "2", "3"].map((name) => lanes.run("a", work(name)));
  end("1")?.resolve("one");
  expect(await first).toBe("one");
  expect(begun).toEqual(["1", "2"]);
  end("2")?.resolve("two");
  expect(await second).toBe("two");
  end("3")?.resolve("three");
  expect(await third).toBe("three");
});

test("what fails makes room as well, and is told to whoever asked for it", async () => {
  const { begun, work } = works();
  const lanes = createLanes(1);
  const failing = lanes.run("a", () => Promise.reject(new Error("no space left")));
  void lanes.run("a", work("after"));
  await expect(failing).rejects.toThrow("no space left");
  expect(begun).toEqual(["after"]);
});

test("more than wait at first may come later, and still only so many are under way", async () => {
  const lanes = createLanes(2);
  let [now, most] = [0, 0];
  const one = async () => {
    now += 1;
    most = Math.max(most, now);
    await Promise.resolve();
    now -= 1;
  };
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(Array.from({ length: 50 }, () => lanes.run("a", one)));
  }
  expect({ now, most }).toEqual({ now: 0, most: 2 });
});
