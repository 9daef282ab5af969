import { PassThrough, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { FakeNoAnswer, textAnswer } from "../testing/fakeUpstream.ts";
import { ask, openRaw, putTable, statusOf } from "../testing/http.ts";
import { arrive, beginPage, frontPage, html, startSlowSite, wordpress } from "../testing/slowSite.ts";
import { startSite, tableOf } from "../testing/withEdge.ts";

test("concurrent requests for a page share one response of PHP", async () => {
  const site = await startSlowSite();
  const { page } = await beginPage(site);
  const crowd = await Promise.all(Array.from({ length: 100 }, () => arrive(site)));
  site.make();
  expect((await page).body).toBe("page 1");
  await Promise.all(crowd.map(({ ended }) => ended));
  for (const { received } of crowd) {
    expect(statusOf(received())).toBe(200);
    expect(received()).toMatch(/content-type: text\/html\r\n/i);
    expect(received()).toContain("\r\npage 1\r\n");
  }
  expect(site.asked()).toEqual(["/"]);
});

test("a request that arrives while the page is being sent gets all of it", async () => {
  const site = await startSite({}, wordpress);
  const page = new PassThrough();
  site.upstream.answer = ({ url }) => (url === "/" ? { status: 200, headers: html, body: page } : textAnswer("marker"));
  page.write("first ");
  const first = openRaw(site.edge);
  first.socket.write(frontPage);
  await eventually(() => expect(first.received()).toContain("first"));
  const later = await arrive(site);
  page.end("last");
  await later.ended;
  expect(later.received()).toContain("first last");
});

test("nothing is stored: a later request runs PHP again", async () => {
  const site = await startSlowSite();
  site.make();
  expect((await ask(site.edge, "/")).body).toBe("page 1");
  expect((await ask(site.edge, "/")).body).toBe("page 2");
});

test("a private page is shared again once it is public", async () => {
  const site = await startSite({}, wordpress);
  const { upstream } = site;
  const privateGate = Promise.withResolvers<void>();
  upstream.answer = async ({ url }) => {
    if (url === "/" && upstream.asked.length === 1) await privateGate.promise;
    return textAnswer("private", [["Set-Cookie", "a=1"]]);
  };
  await beginPage(site);
  const waiting = await arrive(site);
  privateGate.resolve();
  await waiting.ended;
  upstream.answer = () => textAnswer("public");
  await ask(site.edge, "/");
  const gate = Promise.withResolvers<void>();
  upstream.answer = async ({ url }) => {
    if (url === "/") await gate.promise;
    return textAnswer("public");
  };
  const { page } = await beginPage(site);
  const later = await arrive(site);
  gate.resolve();
  await Promise.all([page, later.ended]);
  expect(upstream.asked.filter(({ request }) => request.url === "/")).toHaveLength(4);
});

describe("a visitor sees their own changes", () => {
  /** PHP responds with the content at the start of the request. */
  async function startNotebook() {
    const world = await startSite({}, wordpress);
    const gates: PromiseWithResolvers<void>[] = [];
    let written = "nothing";
    world.upstream.answer = async ({ method, url }) => {
      if (url.startsWith("/marker")) return textAnswer("marker");
      const seen = written;
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      if (method === "POST") written = "news";
      return textAnswer(seen);
    };
    const release = (index: number) => gates[index]?.resolve();
    return { ...world, release };
  }

  const save = { method: "POST", body: "a=1" };

  test("even if a page was started before the write", async () => {
    const site = await startNotebook();
    const { page: before } = await beginPage(site);
    const { page: saved } = await beginPage(site, save);
    site.release(1);
    await saved;
    const { page: after } = await beginPage(site);
    for (const index of [0, 2]) site.release(index);
    expect((await before).body).toBe("nothing");
    expect((await after).body).toBe("news");
  });

  test("even if a page was started during the write", async () => {
    const site = await startNotebook();
    const { page: saved } = await beginPage(site, save);
    await beginPage(site);
    site.release(0);
    await saved;
    const { page: after } = await beginPage(site);
    for (const index of [1, 2]) site.release(index);
    expect((await after).body).toBe("news");
  });

  test("and pages are shared again after the last write", async () => {
    const site = await startNotebook();
    const saves = [await beginPage(site, save), await beginPage(site, save)];
    site.release(0);
    await saves[0]?.page;
    await beginPage(site);
    await beginPage(site);
    site.release(1);
    await saves[1]?.page;
    await beginPage(site);
    const later = await arrive(site);
    site.release(4);
    await later.ended;
    expect(later.received()).toContain("news");
    for (const index of [2, 3]) site.release(index);
  });
});

test("pages of different releases, PHP versions and PHP runs are not shared", async () => {
  const site = await startSlowSite();
  await beginPage(site);
  const changes = [{ release: 2 }, { phpVersion: "8.4" }, { phpRestarts: 1 }];
  for (const [index, change] of changes.entries()) {
    const hosts = { "site.localhost": "one" };
    await putTable(site.edge, tableOf(index + 2, [{ ...site.environment, ...change }], hosts));
    await beginPage(site);
  }
  site.make();
  expect(site.asked()).toHaveLength(4);
});

test("waiting visitors get a page even if the first one leaves", async () => {
  const site = await startSlowSite();
  const first = openRaw(site.edge);
  first.socket.write(frontPage);
  await eventually(() => expect(site.asked()).toHaveLength(1));
  const waiting = [await arrive(site), await arrive(site)];
  const abort = new Promise((resolve) => site.upstream.asked[0]?.request.signal.addEventListener("abort", resolve));
  first.socket.destroy();
  await abort;
  site.make();
  await Promise.all(waiting.map(({ ended }) => ended));
  for (const { received } of waiting) expect(received()).toContain("page 2");
  expect(site.asked()).toEqual(["/", "/"]);
});

test("a waiting visitor who leaves does not affect others", async () => {
  const site = await startSlowSite();
  const { page } = await beginPage(site);
  const leaving = await arrive(site);
  leaving.socket.destroy();
  await leaving.ended;
  site.make();
  expect((await page).body).toBe("page 1");
  expect((await ask(site.edge, "/")).body).toBe("page 2");
});

test("a failure is shared by all waiting visitors", async () => {
  const site = await startSite({}, wordpress);
  const gate = Promise.withResolvers<void>();
  site.upstream.answer = async ({ url }) => {
    if (url.startsWith("/marker")) return textAnswer("marker");
    await gate.promise;
    throw new FakeNoAnswer("deadline");
  };
  const { page } = await beginPage(site);
  const waiting = await arrive(site);
  gate.resolve();
  expect((await page).status).toBe(504);
  await waiting.ended;
  expect(statusOf(waiting.received())).toBe(504);
  expect(site.upstream.asked).toHaveLength(2);
});

test("an incomplete page is not shared", async () => {
  const site = await startSite({}, wordpress);
  const broken = Promise.withResolvers<void>();
  async function* half() {
    yield Buffer.from("half");
    await broken.promise;
    throw new Error("worker died");
  }
  const answers: ReturnType<typeof textAnswer>[] = [{ status: 200, headers: html, body: Readable.from(half()) }];
  site.upstream.answer = ({ url }) =>
    url === "/" ? (answers.shift() ?? textAnswer("complete")) : textAnswer("marker");
  const first = expect(ask(site.edge, "/")).rejects.toThrow(/aborted|socket hang up|ECONNRESET/);
  await eventually(() => expect(site.upstream.asked).toHaveLength(1));
  const waiting = await arrive(site);
  broken.resolve();
  await first;
  await waiting.ended;
  expect(waiting.received()).toContain("complete");
  expect(waiting.received()).not.toContain("half");
});

test("after an incomplete page, waiting visitors don't wait for each other", async () => {
  const site = await startSite({}, wordpress);
  const [broken, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  async function* half() {
    yield Buffer.from("half");
    await broken.promise;
    throw new Error("worker died");
  }
  const asked = () => site.upstream.asked.filter(({ request }) => request.url === "/");
  site.upstream.answer = async ({ url }) => {
    if (url !== "/") return textAnswer("marker");
    if (asked().length === 1) return { status: 200, headers: html, body: Readable.from(half()) };
    await gate.promise;
    return textAnswer("complete");
  };
  const { page } = await beginPage(site);
  const waiting = [await arrive(site), await arrive(site)];
  broken.resolve();
  await expect(page).rejects.toThrow(/aborted|socket hang up|ECONNRESET/);
  await eventually(() => expect(asked()).toHaveLength(3));
  gate.resolve();
  await Promise.all(waiting.map(({ ended }) => ended));
  for (const { received } of waiting) expect(received()).toContain("complete");
});

test("a page that is too long to share is complete for everyone", async () => {
  const site = await startSite({}, wordpress);
  const gate = Promise.withResolvers<void>();
  const long = "0123456789".repeat(300_000);
  site.upstream.answer = async ({ url }) => {
    if (url === "/") await gate.promise;
    return { status: 200, headers: html, body: Readable.from(long.match(/.{100000}/g)?.map(Buffer.from) ?? []) };
  };
  const { page } = await beginPage(site);
  const waiting = await arrive(site);
  gate.resolve();
  expect((await page).body).toBe(long);
  await waiting.ended;
  expect(waiting.received().split("0123456789").length - 1).toBe(600_000);
  expect(site.upstream.asked.map(({ request }) => request.url)).toEqual(["/", expect.stringContaining("marker"), "/"]);
});

test("a first visitor who reads slowly does not delay others", async () => {
  const site = await startSite({}, wordpress);
  const body = new PassThrough({ highWaterMark: 1 });
  site.upstream.answer = ({ url }) => (url === "/" ? { status: 200, headers: html, body } : textAnswer("marker"));
  const slow = openRaw(site.edge);
  slow.socket.pause();
  slow.socket.write(frontPage);
  await eventually(() => expect(site.upstream.asked).toHaveLength(1));
  const waiting = await arrive(site);
  for (let piece = 0; piece < 10; piece += 1) body.write(Buffer.alloc(100_000, "x"));
  body.end("last");
  await waiting.ended;
  expect(waiting.received()).toMatch(/xlast/);
});
