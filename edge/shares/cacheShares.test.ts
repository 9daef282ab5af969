import { expect, test } from "vitest";
import { type CacheShares, createCacheShares, type Held, type Shareable } from "./cacheShares.ts";

interface Page extends Shareable {
  readonly name: string;
}

const mostBytes = 100;

/** A cache for 100 pages of one byte each. */
function start() {
  const kept = new Map<string, Held<Page>>();
  const shares: CacheShares<Page> = createCacheShares(mostBytes, ({ name }) => kept.delete(name));
  const put = (name: string, more: Partial<Page> = {}) => {
    const [environmentId = ""] = name.split("/");
    kept.set(name, shares.add({ name, environmentId, bytes: 1, isVariant: false, ...more }, false));
    shares.makeRoom();
  };
  const ask = (name: string) => {
    const held = kept.get(name);
    if (held !== undefined) shares.touch(held);
    return held !== undefined;
  };
  const many = (count: number, name: string, more: Partial<Page> = {}, asked = 1) => {
    for (let index = 0; index < count; index += 1) {
      put(`${name}${index}`, more);
      for (let times = 1; times < asked; times += 1) ask(`${name}${index}`);
    }
  };
  const count = (start: string) => [...kept.keys()].filter((name) => name.startsWith(start)).length;
  return { shares, put, ask, many, count };
}

test("an environment may use all space, until another one needs its share", () => {
  const { many, count, shares } = start();
  many(150, "a/");
  expect(count("a/")).toBe(100);
  many(30, "b/");
  expect([count("a/"), count("b/")]).toEqual([70, 30]);
  many(1_000, "b/more-");
  expect([count("a/"), count("b/")]).toEqual([50, 50]);
  expect(shares.bytes()).toBe(100);
});

test("no flood and no large page takes anything from an environment below its share", () => {
  const { many, put, count } = start();
  many(40, "victim/");
  many(1_000, "attacker/", {}, 3);
  put("attacker/large", { bytes: 60 });
  expect(count("victim/")).toBe(40);
});

test("environments of a company share its space, also after their company becomes known", () => {
  const { many, count, shares } = start();
  for (const name of ["a1", "a2", "a3"]) many(30, `${name}/`);
  shares.setPayers(new Map(["a1", "a2", "a3"].map((id) => [id, "a"])));
  many(60, "b/");
  expect([count("a1/"), count("a2/"), count("a3/"), count("b/")].toSorted()).toEqual([16, 17, 17, 50].toSorted());
});

test("pages that were asked for again outlast any number of pages that were asked for once", () => {
  const { many, count } = start();
  many(80, "a/popular-", {}, 2);
  many(1_000, "a/once-");
  expect([count("a/popular-"), count("a/once-")]).toEqual([80, 20]);
});

test("new pages can become popular when all space is used by popular ones", () => {
  const { many, put, ask, count } = start();
  many(100, "a/popular-", {}, 2);
  put("a/new");
  expect(ask("a/new")).toBe(true);
  many(50, "a/other-");
  expect([ask("a/new"), count("a/popular-") >= 85]).toEqual([true, true]);
});

test("of popular pages, those that are still asked for stay", () => {
  const { many, ask } = start();
  many(100, "a/", {}, 2);
  for (const name of ["a/0", "a/1"]) ask(name);
  many(60, "a/next-", {}, 2);
  expect(["a/0", "a/1", "a/2", "a/3"].map(ask)).toEqual([true, true, false, false]);
});

test("variants can't take more than a quarter of an environment's space from its other pages", () => {
  const { many, count } = start();
  many(75, "a/page-", {}, 2);
  many(1_000, "a/?lang=", { isVariant: true }, 3);
  expect([count("a/page-"), count("a/?lang=")]).toEqual([75, 25]);
});

test("a site whose pages are all variants uses its whole space for them", () => {
  const { many, count } = start();
  many(150, "a/?p=", { isVariant: true }, 2);
  expect(count("a/?p=")).toBe(100);
});

test("a page larger than the cache removes only itself when it is alone", () => {
  const { put, count, shares } = start();
  put("a/huge", { bytes: 101 });
  expect([count("a/"), shares.bytes(), shares.environments()]).toEqual([0, 0, []]);
});
