import { expect, test } from "vitest";
import { type FakeAnswer, textAnswer } from "../testing/fakeUpstream.ts";
import { ask, type Sending } from "../testing/http.ts";
import { type EdgeWorld, startSite } from "../testing/withEdge.ts";

const files = { "wp-login.php": "<?php", "xmlrpc.php": "<?php", "wp-admin/admin-ajax.php": "<?php", "a.txt": "file" };
const form: Sending = { method: "POST", body: "log=ada&pwd=wrong", headers: { accept: "text/html" } };
const withPassword: Sending = { headers: { authorization: "Basic YWRhOndyb25n" } };
const failed: FakeAnswer = textAnswer("no", [["X-Sitewright-Login", "failed"]]);

/** A site whose logins have the outcome, as the platform's PHP reports it. */
async function startLogins(outcome = "failed") {
  const world = await startSite(files, { environment: { isXmlRpcOn: true } });
  const php = { outcome, user: "ada" };
  world.upstream.answer = () =>
    textAnswer("page", [
      ["X-Sitewright-Login", php.outcome],
      ["X-Sitewright-Login-User", php.user],
    ]);
  return { ...world, php };
}

async function repeat({ edge }: Pick<EdgeWorld, "edge">, path: string, sending: Sending, times = 5) {
  const statuses = [];
  for (let index = 0; index < times; index += 1) statuses.push((await ask(edge, path, sending)).status);
  return statuses;
}

test.each([
  ["/wp-login.php", form],
  ["//wp-login.php?action=lostpassword", form],
  ["/xmlrpc.php", { ...form, body: "<methodCall/>" }],
  ["/wp-json/wp/v2/users/me", withPassword],
  ["/?rest_route=/wp/v2/posts", { ...withPassword, method: "POST", body: "{}" }],
])(
  "after five failures at %s, logins are refused with the way out, and PHP does no more work",
  async (path, sending) => {
    const world = await startLogins();
    expect(await repeat(world, path, sending)).toEqual([200, 200, 200, 200, 200]);
    for (const [url, next] of [[path, sending] as const, ["/wp-login.php", form] as const]) {
      const got = await ask(world.edge, url, { ...next, headers: { ...next.headers, accept: "text/html" } });
      expect([got.status, got.headers["retry-after"]]).toEqual([429, "600"]);
      expect(got.body).toMatch(/no passwords from your IP address for 10 minutes.*login link/s);
    }
    expect(world.upstream.asked.length).toBe(5);
  },
);

test("everything else is still served to that address", async () => {
  const world = await startLogins();
  await repeat(world, "/wp-login.php", form);
  expect((await ask(world.edge, "/wp-login.php")).body).toBe("page");
  expect((await ask(world.edge, "/a.txt")).body).toBe("file");
  expect((await ask(world.edge, "/", { method: "POST", body: "comment" })).body).toBe("page");
});

test("PHP of other sites has a count like every visitor", async () => {
  const world = await startLogins();
  const asNeighbour = { ...form, php: world.edge.loopbackSocket, phpOf: "two" };
  expect(await repeat(world, "/wp-login.php", asNeighbour, 6)).toEqual([200, 200, 200, 200, 200, 429]);
  expect(await repeat(world, "/wp-login.php", form, 1)).toEqual([200]);
  expect(await repeat(world, "/wp-login.php", { ...asNeighbour, phpOf: "three" }, 1)).toEqual([200]);
});

test("pages of a site that is protected by a password are still served", async () => {
  const world = await startLogins();
  await repeat(world, "/wp-json/wp/v2/users/me", withPassword);
  expect((await ask(world.edge, "/", withPassword)).status).toBe(200);
  expect((await ask(world.edge, "/wp-json/", withPassword)).status).toBe(429);
});

test("where the REST API has another address, PHP is told to refuse passwords", async () => {
  const world = await startLogins();
  expect(await repeat(world, "/api/wp/v2/users/me", withPassword, 6)).toEqual([200, 200, 200, 200, 200, 200]);
  expect(world.upstream.asked.at(-1)?.request.headers["x-sitewright-logins"]).toBe("refused");
});

test.each([
  ["starts the count of the user again", "ada", [200, 200, 200, 200, 200, 429]],
  ["forgives no failures of other users", "mallory", [200, 429, 429, 429, 429, 429]],
])("a success %s", async (_, user, statuses) => {
  const world = await startLogins();
  await repeat(world, "/wp-login.php", form, 4);
  Object.assign(world.php, { outcome: "succeeded", user });
  await repeat(world, "/wp-login.php", form, 1);
  Object.assign(world.php, { outcome: "failed", user: "ada" });
  expect(await repeat(world, "/wp-login.php", form, 6)).toEqual(statuses);
});

test.each([
  ["the REST API", "/wp-json/wp/v2/posts", withPassword],
  ["XML-RPC", "/xmlrpc.php", { ...form, body: "<methodCall/>" }],
])("programs may send many requests at once to %s while none fails", async (_, path, sending) => {
  const world = await startLogins("none");
  const worker = Promise.withResolvers<void>();
  world.upstream.worker = () => worker.promise;
  const all = Array.from({ length: 20 }, () => ask(world.edge, path, sending));
  worker.resolve();
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual(all.map(() => 200));
});

test.each([
  ["a user who is logged in", { ...withPassword.headers, cookie: "a=b; wordpress_logged_in_0123=ada" }],
  ["a program with a key of WooCommerce", { authorization: `Basic ${btoa("ck_0123:cs_4567")}` }],
])("%s can use the REST API after failures of others, but not log in", async (_, headers) => {
  const world = await startLogins();
  await repeat(world, "/wp-login.php", form);
  expect(await repeat(world, "/wp-json/wp/v2/posts", { headers }, 1)).toEqual([200]);
  expect(world.upstream.asked.at(-1)?.request.headers["x-sitewright-logins"]).toBe("refused");
});

test("many at once are no way around it", async () => {
  const world = await startLogins();
  await Promise.all(Array.from({ length: 40 }, () => ask(world.edge, "/wp-login.php", form)));
  expect(world.upstream.asked.length).toBe(5);
});

test.each(["/", "/my-account/", "/wp-admin/admin-ajax.php"])(
  "after failures in a form at %s, PHP is told to refuse logins",
  async (path) => {
    const world = await startLogins();
    await repeat(world, path, form, 6);
    const orders = world.upstream.asked.map(({ request }) => request.headers["x-sitewright-logins"]);
    expect(orders).toEqual([undefined, undefined, undefined, undefined, undefined, "refused"]);
    expect((await ask(world.edge, "/wp-login.php", form)).status).toBe(429);
  },
);

test("forms that wait for a worker are judged when they get it", async () => {
  const world = await startLogins();
  const waiting: (() => void)[] = [];
  const startNext = () => waiting.shift()?.();
  // One worker, which is busy until all have arrived.
  world.upstream.worker = () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 20) startNext();
    });
  world.upstream.answer = () => {
    setImmediate(startNext);
    return textAnswer("no", [["X-Sitewright-Login", "failed"]]);
  };
  await Promise.all(Array.from({ length: 20 }, () => ask(world.edge, "/my-account/", form)));
  const orders = world.upstream.asked.map(({ request }) => request.headers["x-sitewright-logins"]);
  expect(orders.filter((order) => order === undefined).length).toBe(5);
});

test("visitors can't send the platform's headers, and don't get them", async () => {
  const world = await startLogins();
  const headers = { "X-Sitewright-Logins": "refused", "X-Sitewright-Login": "succeeded" };
  const got = await ask(world.edge, "/", { ...form, headers });
  expect(got.headers["x-sitewright-login"]).toBeUndefined();
  expect(Object.keys(world.upstream.asked[0]?.request.headers ?? {}).join()).not.toContain("sitewright");
});

test("a turn ends if PHP fails, or if the site is frozen", async () => {
  const world = await startLogins();
  world.upstream.answer = async () => {
    throw new Error("crashed");
  };
  expect(await repeat(world, "/wp-login.php", form, 8)).toEqual(Array.from({ length: 8 }, () => 502));
  world.upstream.answer = () => failed;
  expect((await ask(world.edge, "/wp-login.php", form)).status).toBe(200);
});

const take = async ({ edge }: Pick<EdgeWorld, "edge">) => {
  const got = await ask(edge, "/logins/take", { socketPath: edge.adminSocket, method: "POST", body: "{}" });
  return JSON.parse(got.body).logins;
};

test("logins are counted for the activity log by address, outcome and user, until they are taken", async () => {
  const world = await startSite(files);
  const answerAs = (outcome: string, user?: string) => {
    const more = user === undefined ? [] : [["X-Sitewright-Login-User", user] as const];
    world.upstream.answer = () => textAnswer("page", [["X-Sitewright-Login", outcome], ...more]);
  };
  answerAs("failed", "Ad%C3%A9%20L");
  await repeat(world, "/wp-login.php", form, 2);
  answerAs("failed");
  await repeat(world, "/wp-login.php", form, 1);
  answerAs("succeeded", "ada");
  const login = await ask(world.edge, "/", { method: "POST", body: "shop_user=ada" });
  expect(login.headers).not.toHaveProperty("x-sitewright-login-user");
  // Programs with an application password log in with every request.
  answerAs("succeeded");
  await repeat(world, "/", withPassword, 2);
  const common = { environmentId: "one", address: "127.0.0.1", byLink: false };
  expect(await take(world)).toEqual([
    { ...common, outcome: "failed", user: "Adé L", count: 2 },
    { ...common, outcome: "failed", user: null, count: 1 },
    { ...common, outcome: "succeeded", user: "ada", count: 1 },
  ]);
  expect(await take(world)).toEqual([]);
});

test.each(["%", "%00", "", "a%0Ab"])("the made-up user name %j is ignored", async (user) => {
  const world = await startSite(files);
  world.upstream.answer = () =>
    textAnswer("page", [
      ["X-Sitewright-Login", "failed"],
      ["X-Sitewright-Login-User", user],
    ]);
  await repeat(world, "/wp-login.php", form, 1);
  expect(await take(world)).toMatchObject([{ user: null, count: 1 }]);
});
