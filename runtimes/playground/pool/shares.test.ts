import { describe, expect, test } from "vitest";
import { chooseToEnd, isAtLimit, type SharedMember, shareOf } from "./shares.ts";

const now = 1_000_000;

/** An idle worker that was last used a minute ago. */
function member(company: string, more: { isBusy?: boolean; hasVisitors?: boolean; ago?: number } = {}): SharedMember {
  const { isBusy = false, hasVisitors = true, ago = 60_000 } = more;
  const environment = { id: `${company}-site`, companyId: company };
  return { environment, isBusy, hasVisitors, worker: { lastUsed: now - ago } };
}

const busy = (company: string) => member(company, { isBusy: true });
const endFor = (company: string, members: readonly SharedMember[], surplus = 1) =>
  chooseToEnd(members, { company, maxWorkers: 4, surplus, now });

describe("a company's share", () => {
  test.each([
    { companies: [], share: 8 },
    { companies: ["a"], share: 8 },
    { companies: ["a", "a", "b"], share: 4 },
    { companies: ["b", "c", "d"], share: 2 },
    { companies: ["b", "c", "d", "e", "f", "g", "h", "i", "j"], share: 1 },
  ])("is $share of 8 workers next to $companies", ({ companies, share }) => {
    expect(shareOf(companies.map(busy), "a", 8)).toBe(share);
  });
});

describe("idle workers are ended", () => {
  test("only as many as are needed, the least recently used first", () => {
    const [old, older, oldest] = [60_000, 70_000, 80_000].map((ago) => member("a", { ago }));
    const members = [old, older, oldest].filter((each) => each !== undefined);
    expect(endFor("b", members, 2)).toEqual([oldest, older]);
    expect(endFor("b", members, 0)).toEqual([]);
    expect(endFor("b", members, -2)).toEqual([]);
    expect(endFor("b", members, 4)).toBeNull();
  });

  test("of the company with the most workers first, even if they were used just now", () => {
    const mine = member("a", { ago: 1 });
    expect(endFor("c", [busy("a"), busy("a"), mine, member("b", { ago: 90_000 })])).toEqual([mine]);
  });

  test("not of a company within its share that uses them, for one that has more", () => {
    const recent = member("b", { ago: 5_000 });
    expect(endFor("a", [busy("a"), busy("a"), busy("a"), recent])).toBeNull();
    expect(endFor("c", [busy("a"), busy("a"), busy("a"), recent])).toEqual([recent]);
    const unused = member("b", { ago: 45_000 });
    expect(endFor("a", [busy("a"), busy("a"), busy("a"), unused])).toEqual([unused]);
  });

  test("of another environment of the same company rather than of another company", () => {
    const own = member("a", { ago: 1 });
    expect(endFor("a", [busy("a"), own, member("b"), member("c")])).toEqual([own]);
  });

  test("before those for visitors if they have only done background work", () => {
    const background = member("a", { hasVisitors: false, ago: 1 });
    expect(endFor("b", [member("a"), background])).toEqual([background]);
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
