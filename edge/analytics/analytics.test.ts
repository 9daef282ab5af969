import { appendFile, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { browser, html, startCachedSite } from "../cache/testing/cachedSite.ts";
import { eventually } from "../testing/eventually.ts";
import { textAnswer } from "../testing/fakeUpstream.ts";
import { ask, putTable } from "../testing/http.ts";
import { makeFolder, startEmptyEdge, startSite, tableOf } from "../testing/withEdge.ts";
import type { AnalyticsReport, StoredMinutes } from "./minutes.ts";

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0";
const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36";
const safari =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/20.0 Safari/605.1.15";

const minute = 60_000;
/** In the middle of a minute and of a day. */
const noon = Date.UTC(2026, 10, 28, 12, 0, 30);

type AdminEdge = Parameters<typeof ask>[0] & { readonly adminSocket: string };

async function report(edge: AdminEdge, stored: StoredMinutes | null = null): Promise<AnalyticsReport> {
  const body = JSON.stringify(stored);
  const got = await ask(edge, "/analytics", { method: "POST", body, socketPath: edge.adminSocket });
  expect(got.status).toBe(200);
  return JSON.parse(got.body);
}

/** A clock that stands still until it is set. */
function makeClock(time = noon) {
  const clock = { time, now: () => clock.time };
  return clock;
}

const optionsOf = (clock: ReturnType<typeof makeClock>, folder: string | null = null) => ({
  edge: { analytics: { folder, now: clock.now } },
});

type Clock = ReturnType<typeof makeClock>;

/** Ends the present minute when it has so many requests. Returns its counts of the environment `one`. */
async function countsOf(edge: AdminEdge, clock: Clock, requests: number) {
  return eventually(async () => {
    clock.time += minute;
    const { minutes } = await report(edge);
    const counts = minutes.flatMap(({ environments }) => (environments.one === undefined ? [] : [environments.one]));
    const sums: Record<string, number> = {};
    for (const each of counts) for (const [name, value] of Object.entries(each)) sums[name] = (sums[name] ?? 0) + value;
    expect(sums.requests).toBe(requests);
    return sums;
  });
}

describe("counts of requests", () => {
  test("tell apart the cache, PHP and files, and have every status, size and duration", async () => {
    const clock = makeClock();
    const site = await startCachedSite({ "style.css": "a".repeat(5_000) }, optionsOf(clock));
    await site.meet("/");
    const seen = ["MISS"];
    await eventually(async () => {
      const { cache } = await site.get("/");
      seen.push(String(cache));
      expect(cache).toBe("HIT");
    });
    await site.get("/", { cookie: "wordpress_logged_in_x=1" });
    site.respond = () => ({ ...textAnswer("gone", html), status: 404 });
    await site.get("/missing/");
    await site.get("/style.css");
    await site.get("/.htaccess");
    const [hits, misses] = ["HIT", "MISS"].map((state) => seen.filter((each) => each === state).length);
    const counts = await countsOf(site.edge, clock, seen.length + 4);
    expect(counts).toMatchObject({ hits, misses: (misses ?? 0) + 1, bypasses: 1 });
    expect(counts).toMatchObject({ "status:404": 2, "status:200": seen.length + 2 });
    expect(counts.bytes).toBeGreaterThan(5_000);
    const total = (prefix: string) =>
      Object.entries(counts).reduce((sum, [name, value]) => sum + (name.startsWith(prefix) ? value : 0), 0);
    expect([total("cached:"), total("php:")]).toEqual([counts.hits, (counts.misses ?? 0) + 1]);
  });

  test("do not include requests from the site's own PHP", async () => {
    const clock = makeClock();
    const { edge } = await startSite({}, optionsOf(clock));
    await ask(edge, "/", { php: edge.loopbackSocket });
    await ask(edge, "/", { headers: browser });
    expect(await countsOf(edge, clock, 1)).toMatchObject({ requests: 1 });
  });

  test("have PHP's work since the last time", async () => {
    const clock = makeClock();
    const { edge, upstream } = await startSite({}, optionsOf(clock));
    const work = { phpRequests: 3, killedForTime: 0, killedForMemory: 0, refusedBusy: 0, writes: 0, recentCores: 0 };
    const used = (phpMilliseconds: number, cpuMilliseconds: number) => {
      upstream.used = [{ environmentId: "one", ...work, phpMilliseconds, cpuMilliseconds }];
    };
    used(400, 300);
    await report(edge);
    used(1_000, 350);
    await report(edge);
    clock.time += minute;
    const { minutes } = await report(edge);
    expect(minutes.map(({ environments }) => environments.one)).toEqual([{ phpMs: 1_000, cpuMs: 350 }]);
  });
});

describe("visits", () => {
  test("are the first pages of visitors on a day, without bots, files and errors", async () => {
    const clock = makeClock();
    const { edge, upstream } = await startSite({ "style.css": "a" }, optionsOf(clock));
    const as = (userAgent: string, url = "/") => ask(edge, url, { headers: { "user-agent": userAgent } });
    await as(firefox, "/style.css");
    for (const url of ["/", "/about/", "/"]) await as(firefox, url);
    await as(chrome);
    await as("Googlebot/2.1 (+http://www.google.com/bot.html)");
    await ask(edge, "/");
    upstream.answer = () => ({ ...textAnswer("gone", html), status: 404 });
    await as(safari, "/missing/");
    expect(await countsOf(edge, clock, 8)).toMatchObject({ visits: 2, bots: 2 });
    clock.time += 24 * 60 * minute;
    upstream.answer = () => textAnswer("back", html);
    await as(firefox);
    expect(await countsOf(edge, clock, 9)).toMatchObject({ visits: 3 });
  });

  test("count once for a visitor with many connections, and for each visitor behind a proxy", async () => {
    const clock = makeClock();
    const { edge } = await startSite({}, { edge: { ...optionsOf(clock).edge, trustedProxies: ["127.0.0.1"] } });
    const from = (address: string) => ask(edge, "/", { headers: { ...browser, "x-forwarded-for": address } });
    for (const address of ["203.0.113.7", "203.0.113.8", "203.0.113.7", "2001:db8::1", "2001:db8::2"])
      await from(address);
    expect(await countsOf(edge, clock, 5)).toMatchObject({ visits: 3 });
  });
});

describe("reports", () => {
  test("have a minute when it is over, until it is stored", async () => {
    const clock = makeClock();
    const { edge } = await startSite({}, optionsOf(clock));
    await ask(edge, "/", { headers: browser });
    await eventually(async () => {
      const got = await ask(edge, "/usage", { method: "POST", body: "null", socketPath: edge.adminSocket });
      expect(JSON.parse(got.body).environments).toHaveLength(1);
    });
    expect((await report(edge)).minutes).toEqual([]);
    clock.time += minute;
    const first = await report(edge);
    expect(first.minutes).toHaveLength(1);
    expect(first.minutes[0]).toMatchObject({ run: first.run, begins: noon - 30_000 });
    // Its response may have been lost.
    expect(await report(edge)).toEqual(first);
    expect(await report(edge, { run: "of another edge", last: first.last })).toEqual(first);
    expect((await report(edge, first)).minutes).toEqual([]);
    clock.time += minute;
    expect((await report(edge, first)).minutes).toEqual([{ run: first.run, begins: noon + 30_000, environments: {} }]);
  });

  test("do not have minutes in which the edge did not run", async () => {
    const clock = makeClock();
    const { edge } = await startEmptyEdge(optionsOf(clock).edge);
    clock.time += 5 * minute;
    await report(edge);
    clock.time += minute;
    expect((await report(edge)).minutes.map(({ begins }) => (begins - noon + 30_000) / minute)).toEqual([0, 5]);
  });

  test("keep the order of minutes if the clock is set back", async () => {
    const clock = makeClock();
    const { edge } = await startEmptyEdge(optionsOf(clock).edge);
    clock.time -= 60 * minute;
    expect((await report(edge)).minutes).toEqual([]);
    clock.time = noon + minute;
    expect((await report(edge)).minutes.map(({ begins }) => begins)).toEqual([noon - 30_000]);
  });
});

describe("a restarted edge", () => {
  async function startAgain(folder: string, clock: Clock) {
    const world = await startSite({}, optionsOf(clock, folder));
    return world.edge;
  }

  test("reports what the one before it had counted, and counts no visitor again", async () => {
    const [folder, clock] = [await makeFolder(), makeClock()];
    const before = await startAgain(folder, clock);
    await ask(before, "/", { headers: browser });
    await before.close(0);
    const edge = await startAgain(folder, clock);
    for (const userAgent of [browser["user-agent"], firefox]) {
      await ask(edge, "/", { headers: { "user-agent": userAgent } });
    }
    expect(await countsOf(edge, clock, 3)).toMatchObject({ visits: 2 });
    const [first, second] = (await report(edge)).minutes;
    expect([first?.begins, first?.environments.one?.requests]).toEqual([noon - 30_000, 1]);
    expect(second).toMatchObject({ begins: noon - 30_000, environments: { one: { requests: 2 } } });
    expect(first?.run).not.toBe(second?.run);
  });

  test("keeps no visitor of an earlier day", async () => {
    const [folder, clock] = [await makeFolder(), makeClock()];
    await (await startAgain(folder, clock)).close(0);
    clock.time += 24 * 60 * minute;
    await (await startAgain(folder, clock)).close(0);
    expect((await readdir(folder)).toSorted()).toEqual(["minutes.json", "visitors-2026-11-29.bin"]);
  });

  test("continues after files that were cut off or are broken", async () => {
    const [folder, clock] = [await makeFolder(), makeClock()];
    const before = await startAgain(folder, clock);
    await ask(before, "/", { headers: browser });
    await before.close(0);
    await appendFile(path.join(folder, "visitors-2026-11-28.bin"), "cut");
    await writeFile(path.join(folder, "minutes.json"), "{");
    for (const visits of [1, 0]) {
      const edge = await startAgain(folder, clock);
      await ask(edge, "/", { headers: { "user-agent": firefox } });
      await ask(edge, "/", { headers: browser });
      const counts = await countsOf(edge, clock, 2);
      expect(counts.visits ?? 0).toBe(visits);
      const { run, last } = await report(edge);
      await report(edge, { run, last });
      await edge.close(0);
    }
    // A salt, and two visitors.
    expect(await readFile(path.join(folder, "visitors-2026-11-28.bin"))).toHaveLength(16 + 2 * 14);
  });
});

test("an environment that is no longer served is not counted", async () => {
  const clock = makeClock();
  const { edge } = await startSite({}, optionsOf(clock));
  await putTable(edge, tableOf(2, [], {}));
  expect((await ask(edge, "/", { headers: browser })).status).toBe(404);
  clock.time += minute;
  expect((await report(edge)).minutes.map(({ environments }) => environments)).toEqual([{}]);
});
