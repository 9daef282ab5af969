import { describe, expect, test } from "vitest";
import { makeRoomFor, relieve, type SizedMember, usedBytes } from "./memoryBudget.ts";

const now = 1_000_000;
const gigabyte = 1e9;

interface Facts {
  readonly isBusy?: boolean;
  readonly rssBytes?: number;
  readonly ago?: number;
  readonly isBroken?: boolean;
}

/** A worker with the default allocation, which was last used a minute ago. */
function member(company: string, { isBusy = true, rssBytes = 0, ago = 60_000, isBroken = false }: Facts = {}) {
  const environment = { id: `${company}-site`, companyId: company };
  const worker = { lastUsed: now - ago, rssBytes, isBroken };
  return { environment, isBusy, hasVisitors: true, worker } satisfies SizedMember;
}

const roomFor = (company: string, members: readonly SizedMember[], budget: number, surplus = 0) =>
  makeRoomFor(members, { company, restingBytes: 330e6, maxWorkers: 8, surplus, now }, budget);

test("a booting worker counts with what it will need, and a killed one does not count", () => {
  expect(usedBytes([member("a"), member("a", { rssBytes: gigabyte })])).toBe(1.33e9);
  expect(usedBytes([member("a", { rssBytes: gigabyte, isBroken: true })])).toBe(0);
});

describe("one more worker", () => {
  test("needs nothing while there is memory", () => {
    const members = Array.from({ length: 6 }, () => member("a", { rssBytes: 4e8 }));
    expect(roomFor("a", members, 3 * gigabyte)).toEqual({ ending: [], killing: null });
  });

  test("has idle workers ended until it fits", () => {
    const [one, two] = [{ ago: 90_000 }, { ago: 80_000 }].map((more) =>
      member("b", { isBusy: false, rssBytes: 4e8, ...more }),
    );
    const members = [member("a", { rssBytes: 5e8 }), one, two].filter((each) => each !== undefined);
    expect(roomFor("a", members, 9e8)).toEqual({ ending: [one, two], killing: null });
    expect(roomFor("a", members, 1.3e9)).toEqual({ ending: [one], killing: null });
  });

  test("has the worker killed that is furthest above its allocation", () => {
    const [large, larger, allowed] = [8e8, 12e8, 5.5e8].map((rssBytes) => member("b", { rssBytes }));
    const members = [large, larger, allowed].filter((each) => each !== undefined);
    expect(roomFor("a", members, 2.6e9)).toEqual({ ending: [], killing: larger });
  });

  test("has only a worker of a company above its share killed, and only for a company below its own", () => {
    const greedy = Array.from({ length: 10 }, () => member("greedy", { rssBytes: 5e8 }));
    const within = member("within", { rssBytes: 6.4e8 });
    expect(roomFor("greedy", [...greedy, within], 5 * gigabyte)).toBeNull();
    expect(roomFor("within", [...greedy, within], 5 * gigabyte)).toBeNull();
    const above = member("greedy", { rssBytes: 9e8 });
    expect(roomFor("within", [...greedy, above, within], 5 * gigabyte)).toEqual({ ending: [], killing: above });
    expect(roomFor("greedy", [...greedy, above, within], 5 * gigabyte)).toBeNull();
  });

  test("waits while all others are within their allocations, unless its company has none", () => {
    const members = [member("a", { rssBytes: 5e8 }), member("b", { rssBytes: 5e8 })];
    expect(roomFor("a", members, gigabyte)).toBeNull();
    expect(roomFor("c", members, gigabyte)).toEqual({ ending: [], killing: null });
  });

  test("waits if there are too many workers, however much memory there is", () => {
    expect(roomFor("c", [member("a"), member("b")], 9 * gigabyte, 1)).toBeNull();
  });
});

describe("workers that have grown beyond the budget", () => {
  test("are left alone if there is enough memory", () => {
    const members = [member("a", { rssBytes: 14e8 }), member("b", { isBusy: false, rssBytes: 4e8 })];
    expect(relieve(members, 2 * gigabyte)).toEqual({ ending: [], killing: null });
  });

  test("are relieved by ending idle workers, the least recently used first, and then by killing one", () => {
    const [recent, old] = [1_000, 90_000].map((ago) => member("b", { isBusy: false, rssBytes: 4e8, ago }));
    const large = member("a", { rssBytes: 14e8 });
    const members = [large, recent, old].filter((each) => each !== undefined);
    expect(relieve(members, 1.9e9)).toEqual({ ending: [old], killing: null });
    expect(relieve(members, gigabyte)).toEqual({ ending: [old, recent], killing: large });
  });

  test("of a company within its share are not killed for one that uses more", () => {
    const greedy = Array.from({ length: 10 }, () => member("greedy", { rssBytes: 5e8 }));
    const within = member("within", { rssBytes: 6.4e8 });
    expect(relieve([...greedy, within], 5 * gigabyte)).toEqual({ ending: [], killing: null });
  });

  test("are not killed within their allocations", () => {
    expect(relieve([member("a", { rssBytes: 5.9e8 })], 5e8)).toEqual({ ending: [], killing: null });
  });
});
