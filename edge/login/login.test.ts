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

/** Adds a login link and returns its path. */
async function addLink(world: EdgeWorld, changes: object = {}): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const hash = createHash("sha256").update(token).digest("hex");
  const got = await post(world, { hash, environmentId: "one", userId: 7, login: "ada", seconds: 60, ...changes });
  expect([got.status, got.body]).toEqual([200, '{"isServed":true}']);
  return `/sitewright-login?token=${token}`;
}

/** WordPress's response to a successful login. */
const loggedIn = () =>
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

test("a used link is a login for the activity log", async () => {
  const world = await startSite();
  world.upstream.answer = loggedIn;
  await press(world, await addLink(world));
  const got = await ask(world.edge, "/logins/take", { socketPath: world.edge.adminSocket, method: "POST", body: "{}" });
  const login = { environmentId: "one", address: "127.0.0.1", outcome: "succeeded", byLink: true, user: "ada" };
  expect(JSON.parse(got.body).logins).toEqual([{ ...login, count: 1 }]);
});

test("opening a link shows a button without PHP; pressing it logs in once", async () => {
  const world = await startSite();
  world.upstream.answer = loggedIn;
  const link = await addLink(world);
  for (const method of ["GET", "HEAD", "GET"]) {
    const page = await ask(world.edge, link, { method, headers: html });
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
    if (method === "GET")
      expect(page.body).toMatch(/<form method="post"><button.*ada|ada.*<form method="post"><button/s);
  }
  expect(world.upstream.asked).toEqual([]);

  const login = await press(world, link);
  expect([login.status, login.headers.location, login.headers["set-cookie"]]).toEqual([
    302,
    "/wp-admin/",
    ["a=1", "b=2"],
  ]);
  expect(world.upstream.asked).toMatchObject([
    { environmentId: "one", request: { method: "GET", url: "/", task: { name: "logIn" } } },
  ]);
  expect(JSON.parse(world.upstream.asked[0]?.request.task?.input ?? "").input).toEqual({ user: 7, login: "ada" });

  for (const method of ["GET", "POST"]) {
    const expired = await ask(world.edge, link, { method, headers: html });
    expect(expired.status).toBe(410);
    expect(expired.headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
    expect(expired.body).toContain("This login link is no longer valid");
  }
  expect(world.upstream.asked.length).toBe(1);
});

test("a page of another site can't press the button", async () => {
  const world = await startSite();
  world.upstream.answer = loggedIn;
  const link = await addLink(world);
  const forged = await press(world, link, { headers: { ...html, "sec-fetch-site": "cross-site" } });
  expect([forged.status, forged.headers["set-cookie"]]).toEqual([200, undefined]);
  expect(forged.body).toContain("<button");
  expect(world.upstream.asked).toEqual([]);
  expect((await press(world, link, { headers: { ...html, "sec-fetch-site": "same-origin" } })).status).toBe(302);
});

test("exactly one of several concurrent requests logs in", async () => {
  const world = await startSite();
  world.upstream.answer = loggedIn;
  const link = await addLink(world);
  const statuses = (await Promise.all(Array.from({ length: 20 }, () => press(world, link)))).map(
    ({ status }) => status,
  );
  expect(statuses.toSorted()).toEqual([302, ...Array.from({ length: 19 }, () => 410)]);
});

test("PHP gets headers that identify the visitor, but neither the token nor the form", async () => {
  const world = await startSite();
  world.upstream.answer = loggedIn;
  const link = await addLink(world);
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

test("the token is not logged", async () => {
  const world = await startSite();
  world.upstream.answer = loggedIn;
  const link = await addLink(world);
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

test("a failed login is in the environment's error log, without the token", async () => {
  const world = await startSite();
  world.upstream.answer = async () => {
    throw new FakeNoAnswer("deadline");
  };
  await press(world, await addLink(world));
  const [line] = await logged(world, "error", 1);
  expect(line).toContain("PHP did not complete POST /sitewright-login?token=***: deadline, ");
});

test("a link is not valid at another environment, and stays valid at its own", async () => {
  const world = await startSite();
  world.upstream.answer = loggedIn;
  const root = `${world.folder}/other`;
  await writeFiles(root, { "index.php": "<?php" });
  const other = makeEnvironment(root, { id: "two", number: 2 });
  const hosts = { "site.localhost": "one", "other.localhost": "two" };
  await putTable(world.edge, tableOf(2, [world.environment, other], hosts));
  const link = await addLink(world);
  for (const method of ["GET", "POST"]) {
    expect((await ask(world.edge, link, { method, host: "other.localhost", headers: html })).status).toBe(410);
  }
  expect((await press(world, link)).status).toBe(302);
});

test("a link expires", async () => {
  const world = await startSite();
  const link = await addLink(world, { seconds: 0 });
  expect((await ask(world.edge, link)).status).toBe(410);
  expect((await press(world, link)).status).toBe(410);
  expect(world.upstream.asked).toEqual([]);
});

test("no one can log in while the site is frozen, and the link stays valid", async () => {
  const world = await startSite();
  world.upstream.answer = loggedIn;
  const link = await addLink(world);
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
])("an invalid link is answered like an expired one, without PHP: %s", async (path) => {
  const world = await startSite();
  for (const method of ["GET", "POST"]) {
    expect((await ask(world.edge, path, { method, headers: html })).status).toBe(410);
  }
  expect(world.upstream.asked).toEqual([]);
});

test("other methods are refused", async () => {
  const world = await startSite();
  const got = await ask(world.edge, await addLink(world), { method: "PUT" });
  expect([got.status, got.headers.allow]).toEqual([405, "GET, HEAD, POST"]);
});

test("login names are escaped", async () => {
  const world = await startSite();
  const page = await ask(world.edge, await addLink(world, { login: `<b onclick='x'>"&` }));
  expect(page.body).toContain("&#60;b onclick=&#39;x&#39;&#62;&#34;&#38;");
});

test("similar URLs lead to the site", async () => {
  const world = await startSite();
  for (const path of ["/sitewright-login-help", "/blog/sitewright-login?token=x"]) {
    expect((await ask(world.edge, path)).body).toBe("GET /index.php");
  }
});

test("no link is added for an environment that is not served", async () => {
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
])("an invalid order is refused with the name of the field: %j", async (changes, field) => {
  const order = { hash: "0".repeat(64), environmentId: "one", userId: 7, login: "ada", seconds: 60, ...changes };
  const got = await post(await startSite(), order);
  expect(got.status).toBe(400);
  expect(JSON.parse(got.body).message).toContain(field);
});
