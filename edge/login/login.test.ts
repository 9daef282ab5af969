import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { FakeNoAnswer, textAnswer } from "../testing/fakeUpstream.ts";
import { freeze } from "../testing/freezing.ts";
import { ask, putTable, type Sending } from "../testing/http.ts";
import { logged } from "../testing/logged.ts";
import { type EdgeWorld, makeEnvironment, startSite, tableOf, writeFiles } from "../testing/withEdge.ts";

const html = { accept: "text/html,*/*;q=0.8" };

async function post({ edge }: EdgeWorld, body: object) {
  return ask(edge, "/login", { socketPath: edge.adminSocket, method: "POST", body: JSON.stringify(body) });
}

/** The path of a link that logs in once. */
async function offer(world: EdgeWorld, changes: object = {}): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const hash = createHash("sha256").update(token).digest("hex");
  const got = await post(world, { hash, environmentId: "one", userId: 7, login: "ada", seconds: 60, ...changes });
  expect([got.status, got.body]).toEqual([200, '{"isServed":true}']);
  return `/sitewright-login?token=${token}`;
}

/** What WordPress says to somebody who is logged in. */
const welcome = () =>
  textAnswer(
    "",
    [
      ["Location", "/wp-admin/"],
      ["Set-Cookie", "a=1"],
      ["Set-Cookie", "b=2"],
    ],
    302,
  );

const press = ({ edge }: EdgeWorld, link: string, sending: Sending = {}) =>
  ask(edge, link, { method: "POST", headers: html, ...sending });

test("opening a link shows a button and asks nothing of PHP; pressing it logs in, once", async () => {
  const world = await startSite();
  world.upstream.answer = welcome;
  const link = await offer(world);
  for (const method of ["GET", "HEAD", "GET"]) {
    const page = await ask(world.edge, link, { method, headers: html });
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
    if (method === "GET")
      expect(page.body).toMatch(/<form method="post"><button.*ada|ada.*<form method="post"><button/s);
  }
  expect(world.upstream.asked).toEqual([]);

  const entered = await press(world, link);
  expect([entered.status, entered.headers.location, entered.headers["set-cookie"]]).toEqual([
    302,
    "/wp-admin/",
    ["a=1", "b=2"],
  ]);
  expect(world.upstream.asked).toMatchObject([
    { environmentId: "one", request: { method: "GET", url: "/", task: { name: "logIn" } } },
  ]);
  expect(JSON.parse(world.upstream.asked[0]?.request.task?.input ?? "").input).toEqual({ user: 7, login: "ada" });

  for (const method of ["GET", "POST"]) {
    const over = await ask(world.edge, link, { method, headers: html });
    expect(over.status).toBe(410);
    expect(over.headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
    expect(over.body).toContain("This login link is no longer valid");
  }
  expect(world.upstream.asked.length).toBe(1);
});

test("of those who press at once, exactly one gets in", async () => {
  const world = await startSite();
  world.upstream.answer = welcome;
  const link = await offer(world);
  const statuses = (await Promise.all(Array.from({ length: 20 }, () => press(world, link)))).map(
    ({ status }) => status,
  );
  expect(statuses.toSorted()).toEqual([302, ...Array.from({ length: 19 }, () => 410)]);
});

test("PHP is told who comes, and neither the token nor anything that was sent along", async () => {
  const world = await startSite();
  world.upstream.answer = welcome;
  const link = await offer(world);
  const token = link.split("=")[1] ?? "";
  await press(world, link, {
    body: "log=evil&pwd=evil",
    headers: {
      ...html,
      "content-type": "application/x-www-form-urlencoded",
      "user-agent": "Firefox",
      cookie: "before=1",
      referer: `http://site.localhost${link}`,
      "x-wp-nonce": token,
    },
  });
  const [asked] = world.upstream.asked;
  expect(asked?.request.headers).toEqual({
    ...html,
    host: "site.localhost",
    "user-agent": "Firefox",
    cookie: "before=1",
  });
  expect(asked?.request.body).toBeNull();
  expect(JSON.stringify(asked?.request)).not.toContain(token);
});

test("nothing of the token is logged", async () => {
  const world = await startSite();
  world.upstream.answer = welcome;
  const link = await offer(world);
  await ask(world.edge, link);
  await press(world, link);
  await press(world, link);
  await eventually(() => expect(world.logged.filter(({ message }) => message === "answered").length).toBe(3));
  expect(JSON.stringify(world.logged)).toContain("login link used");
  expect(JSON.stringify(world.logged)).not.toContain(link.split("=")[1]);
  const lines = await logged(world, "access", 3);
  expect(lines.map((line) => /"(\S+ \S+) HTTP/.exec(line)?.[1])).toEqual([
    "GET /sitewright-login?token=***",
    "POST /sitewright-login?token=***",
    "POST /sitewright-login?token=***",
  ]);
});

test("a login for which PHP gives no answer is in the environment's error log, without the token", async () => {
  const world = await startSite();
  world.upstream.answer = async () => {
    throw new FakeNoAnswer("deadline");
  };
  await press(world, await offer(world));
  const [line] = await logged(world, "error", 1);
  expect(line).toContain("PHP did not complete POST /sitewright-login?token=***: deadline, ");
});

test("at another environment's address a link is none, and stays good at its own", async () => {
  const world = await startSite();
  world.upstream.answer = welcome;
  const root = `${world.folder}/other`;
  await writeFiles(root, { "index.php": "<?php" });
  const other = makeEnvironment(root, { id: "two", number: 2 });
  const hosts = { "site.localhost": "one", "other.localhost": "two" };
  await putTable(world.edge, tableOf(2, [world.environment, other], hosts));
  const link = await offer(world);
  for (const method of ["GET", "POST"]) {
    expect((await ask(world.edge, link, { method, host: "other.localhost", headers: html })).status).toBe(410);
  }
  expect((await press(world, link)).status).toBe(302);
});

test("a link ends after its time", async () => {
  const world = await startSite();
  const link = await offer(world, { seconds: 0 });
  expect((await ask(world.edge, link)).status).toBe(410);
  expect((await press(world, link)).status).toBe(410);
  expect(world.upstream.asked).toEqual([]);
});

test("while the site is frozen nobody is let in, and the link is still good afterwards", async () => {
  const world = await startSite();
  world.upstream.answer = welcome;
  const link = await offer(world);
  await freeze(world, 2);
  const waiting = await press(world, link);
  expect(waiting.status).toBe(503);
  expect(waiting.headers).toMatchObject({ "retry-after": "3", "referrer-policy": "no-referrer" });
  expect(waiting.body).toContain("Back in a moment");
  expect((await ask(world.edge, link)).status).toBe(200);
  await freeze(world, 3, false);
  expect((await press(world, link)).status).toBe(302);
});

test.each([
  "/sitewright-login",
  "/sitewright-login?token=",
  "/sitewright-login?token=%00",
  "/sitewright-login/?token=x",
])("what is no link is answered like one that is over, without PHP: %s", async (path) => {
  const world = await startSite();
  for (const method of ["GET", "POST"]) {
    expect((await ask(world.edge, path, { method, headers: html })).status).toBe(410);
  }
  expect(world.upstream.asked).toEqual([]);
});

test("other methods are refused", async () => {
  const world = await startSite();
  const got = await ask(world.edge, await offer(world), { method: "PUT" });
  expect([got.status, got.headers.allow]).toEqual([405, "GET, HEAD, POST"]);
});

test("names are shown as they are", async () => {
  const world = await startSite();
  const page = await ask(world.edge, await offer(world, { login: `<b onclick='x'>"&` }));
  expect(page.body).toContain("&#60;b onclick=&#39;x&#39;&#62;&#34;&#38;");
});

test("a site's own page of a similar address is its own", async () => {
  const world = await startSite();
  for (const path of ["/sitewright-login-help", "/blog/sitewright-login?token=x"]) {
    expect((await ask(world.edge, path)).body).toBe("GET /index.php");
  }
});

test("an environment that is not served gets no link", async () => {
  const world = await startSite();
  const order = { hash: "0".repeat(64), environmentId: "two", userId: 7, login: "ada", seconds: 60 };
  expect((await post(world, order)).body).toBe('{"isServed":false}');
});

test.each([
  [{ hash: "short" }, "hash"],
  [{ hash: "Z".repeat(64) }, "hash"],
  [{ environmentId: 1 }, "environmentId"],
  [{ userId: "7" }, "userId"],
  [{ userId: -1 }, "userId"],
  [{ login: "" }, "login"],
  [{ seconds: null }, "seconds"],
])("an order that can't be understood is refused with what is wrong: %j", async (changes, what) => {
  const order = { hash: "0".repeat(64), environmentId: "one", userId: 7, login: "ada", seconds: 60, ...changes };
  const got = await post(await startSite(), order);
  expect(got.status).toBe(400);
  expect(JSON.parse(got.body).message).toContain(what);
});
