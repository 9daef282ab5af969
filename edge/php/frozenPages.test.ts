import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { FakeNoAnswer, textAnswer } from "../testing/fakeUpstream.ts";
import { freeze, watch } from "../testing/freezing.ts";
import { ask, openRaw, putTable } from "../testing/http.ts";
import { arrive, beginPage, frontPage, startSlowSite, wordpress } from "../testing/slowSite.ts";
import { limits, startSite, tableOf } from "../testing/withEdge.ts";

/** A site whose pages all write something. */
async function startCountingSite(options: Parameters<typeof startSite>[1] = {}) {
  const site = await startSite({}, options);
  const { upstream } = site;
  upstream.answer = ({ isReadOnly, url }) => {
    if (isReadOnly && !url.startsWith("/marker")) throw new FakeNoAnswer("wouldWrite");
    return textAnswer(url.startsWith("/marker") ? "marker" : "counted");
  };
  return site;
}

test("PHP must not write while it answers reads of a frozen site", async () => {
  const site = await startSite();
  const asked = async (method = "GET") => {
    await ask(site.edge, "/", { method });
    return site.upstream.asked.at(-1)?.request.isReadOnly;
  };
  expect(await asked()).toBe(false);
  await freeze(site, 2);
  expect([await asked(), await asked("HEAD")]).toEqual([true, true]);
  await freeze(site, 3, false);
  expect(await asked()).toBe(false);
});

test("a page that tries to write is rendered after the thaw, with the new release", async () => {
  const site = await startCountingSite();
  const { edge, upstream, environment } = site;
  await freeze(site, 2);
  const page = watch(ask(edge, "/"));
  await eventually(() => expect(upstream.asked).toHaveLength(1));
  await freeze(site, 3);
  const next = { ...environment, release: 2, isFrozen: false };
  await putTable(edge, tableOf(4, [next], { "site.localhost": environment.id }));
  expect(await page.promise).toMatchObject({ status: 200, body: "counted" });
  expect(upstream.asked.map(({ request }) => request.isReadOnly)).toEqual([true, false]);
});

test("all visitors that wait for such a page get it", async () => {
  const site = await startCountingSite(wordpress);
  const { edge, upstream } = site;
  await freeze(site, 2);
  const crowd = await Promise.all(Array.from({ length: 10 }, () => arrive({ edge, upstream })));
  await freeze(site, 3, false);
  await Promise.all(crowd.map(({ ended }) => ended));
  for (const { received } of crowd) expect(received()).toContain("\r\ncounted\r\n");
});

test("a visitor who would wait too long gets a 503", async () => {
  const site = await startCountingSite({ edge: { limits: { ...limits, holdSeconds: 0.1 } } });
  await freeze(site, 2);
  const got = await ask(site.edge, "/", { headers: { accept: "text/html" } });
  expect(got.status).toBe(503);
  expect(got.headers).toMatchObject({ "retry-after": "3", "cache-control": "no-store" });
  expect(got.body).toContain("<title>Back in a moment</title>");
  expect(got.body).not.toContain("nothing was saved");
});

test("the site's own PHP gets the 503 at once, because the freeze may be waiting for it", async () => {
  const site = await startCountingSite();
  await freeze(site, 2);
  expect((await ask(site.edge, "/", { php: site.edge.loopbackSocket })).status).toBe(503);
});

test("PHP is not run again for a visitor who has left", async () => {
  const site = await startCountingSite();
  const { edge, upstream } = site;
  await freeze(site, 2);
  const visitor = openRaw(edge);
  visitor.socket.write(frontPage);
  await eventually(() => expect(upstream.asked).toHaveLength(1));
  visitor.socket.destroy();
  await eventually(() => expect(site.logged).toContainEqual(expect.objectContaining({ message: "answered" })));
  await freeze(site, 3, false);
  expect((await ask(edge, "/")).body).toBe("counted");
  expect(upstream.asked).toHaveLength(2);
});

test("a site that was deleted in the meantime is a 404 for waiting visitors", async () => {
  const site = await startCountingSite();
  await freeze(site, 2);
  const page = ask(site.edge, "/");
  await eventually(() => expect(site.upstream.asked).toHaveLength(1));
  await putTable(site.edge, tableOf(3, [], {}));
  expect((await page).status).toBe(404);
});

test("a freeze waits for pages that were started before, because they may write", async () => {
  const site = await startSlowSite({}, {});
  const { page } = await beginPage(site);
  const freezing = watch(freeze(site, 2));
  await eventually(async () => expect((await ask(site.edge, "/", { method: "POST" })).status).toBe(503));
  expect(freezing.isSettled()).toBe(false);
  site.make();
  expect((await page).body).toBe("page 1");
  expect((await freezing.promise).status).toBe(200);
});

test("a freeze does not wait for a visitor who reads slowly", async () => {
  const site = await startSite();
  const body = new PassThrough();
  site.upstream.answer = () => ({ status: 200, headers: [], body, finished: Promise.resolve() });
  body.write("first ");
  const visitor = openRaw(site.edge);
  visitor.socket.write(frontPage);
  await eventually(() => expect(visitor.received()).toContain("first"));
  expect((await freeze(site, 2)).status).toBe(200);
  body.end("last");
  await eventually(() => expect(visitor.received()).toContain("last"));
});

test("a page that takes too long is rendered again after the thaw", async () => {
  const site = await startSlowSite({}, { edge: { limits: { ...limits, freezeSeconds: 0.1 } } });
  const { page } = await beginPage(site);
  expect((await freeze(site, 2)).status).toBe(200);
  site.make();
  await freeze(site, 3, false);
  expect((await page).body).toBe("page 2");
});

test("a read whose response has started is not aborted", async () => {
  const site = await startSite({}, { edge: { limits: { ...limits, freezeSeconds: 0.1 } } });
  const body = new PassThrough();
  site.upstream.answer = () => ({ status: 200, headers: [], body });
  body.write("first ");
  const visitor = openRaw(site.edge);
  visitor.socket.write(frontPage.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
  await eventually(() => expect(visitor.received()).toContain("first"));
  expect((await freeze(site, 2)).status).toBe(200);
  const ended = once(visitor.socket, "close");
  body.end("last");
  await ended;
  expect(visitor.received()).toContain("last");
});
