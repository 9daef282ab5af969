import { describe, expect, test } from "vitest";
import { idleInTurn, isAtLimit, reserveForShares, type SharedMember, shareOf } from "./shares.ts";

const now = 1_000_000;

/** An idle worker that was last used a minute ago. */
function member(company: string, more: { isBusy?: boolean; hasVisitors?: boolean; ago?: number } = {}): SharedMember {
  const { isBusy = false, hasVisitors = true, ago = 60_000 } = more;
  const environment = { id: `${company}-site`, companyId: company };
  return { environment, isBusy, hasVisitors, worker: { lastUsed: now - ago } };
}

const busy = (company: string) => member(company, { isBusy: true });
/** The idle workers that may be ended, in order. */
const endFor = (company: string, members: readonly SharedMember[]) => [
  ...idleInTurn(members, { company, maxWorkers: 4, now }),
];

describe("a company's share", () => {
  test.each([
    { companies: [], share: 8 },
    { companies: ["a"], share: 8 },
    { companies: ["a", "a", "b"], share: 4 },
    { companies: ["b", "c", "d"], share: 2 },
    { companies: ["b", "c", "d", "e", "f", "g", "h", "i", "j"], share: 1 },
  ])("is $share of 8 workers next to $companies", ({ companies, share }) => {
    expect(shareOf(companies.map(busy), "a", 8, now)).toBe(share);
  });
});

test("companies whose workers nobody uses do not count for the shares", () => {
  const unused = [member("b"), member("c", { ago: 20_000 }), member("d", { hasVisitors: false, ago: 1 })];
  expect(shareOf([busy("a"), ...unused], "a", 8, now)).toBe(8);
  expect(shareOf([busy("a"), ...unused, member("e", { ago: 2_000 })], "a", 8, now)).toBe(4);
});

test("a company that has workers leaves half of the reserve to those that have none", () => {
  expect([reserveForShares(30, 0), reserveForShares(30, 1)]).toEqual([7, 3]);
  expect([reserveForShares(4, 0), reserveForShares(4, 1)]).toEqual([1, 0]);
});

describe("idle workers are ended", () => {
  test("the least recently used first", () => {
    const [old, older, oldest] = [60_000, 70_000, 80_000].map((ago) => member("a", { ago }));
    const members = [old, older, oldest].filter((each) => each !== undefined);
    expect(endFor("b", members)).toEqual([oldest, older, old]);
  });

  test("of the company with the most workers first, even if they were used just now", () => {
    const [mine, other] = [member("a", { ago: 1 }), member("b", { ago: 90_000 })];
    expect(endFor("c", [busy("a"), busy("a"), mine, other])).toEqual([mine, other]);
  });

  test("not of a company within its share that uses them, for one that has its share", () => {
    const recent = member("b", { ago: 5_000 });
    expect(endFor("a", [busy("a"), busy("a"), busy("a"), recent])).toEqual([]);
    expect(endFor("c", [busy("a"), busy("a"), busy("a"), recent])).toEqual([recent]);
    const unused = member("b", { ago: 45_000 });
    expect(endFor("a", [busy("a"), busy("a"), busy("a"), unused])).toEqual([unused]);
  });

  test("of another environment of the same company rather than of another company", () => {
    const own = member("a", { ago: 1 });
    expect(endFor("a", [busy("a"), own, member("b"), member("c")])[0]).toBe(own);
  });

  test("before those for visitors if they have only done background work", () => {
    const background = member("a", { hasVisitors: false, ago: 1 });
    expect(endFor("b", [member("a"), background])[0]).toBe(background);
  });
});

test("a company is at its limit if all its environments together have that many busy workers", () => {
  const limits = { threads: 8, companyThreads: 2, memoryMb: 256, requestSeconds: null, disk: null };
  const environment = { id: "a-new", companyId: "a", limits };
  expect(isAtLimit([busy("a"), member("a"), busy("b"), busy("b")], environment)).toBe(false);
  expect(isAtLimit([busy("a"), busy("a")], environment)).toBe(true);
  expect(isAtLimit([busy("a"), busy("a")], { ...environment, limits: { ...limits, companyThreads: null } })).toBe(
    false,
  );
});
