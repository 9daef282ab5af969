/** What clients get while PostgreSQL restarts or hangs, at each message of a request to it. */
import { type OpenDatabase, openDatabase } from "@sitewright/server/store/open.ts";
import { after, type DatabaseProxy, isCommit, startDatabaseProxy } from "@sitewright/server/testing/databaseProxy.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Reply, siteFields, startTestServer, type TestServer } from "./testing/server.ts";

/** How long requests wait for the database. */
const waitMilliseconds = 300;

let proxy: DatabaseProxy;
let opened: OpenDatabase;
let test: TestServer & AsyncDisposable;

beforeAll(async () => {
  test = await startTestServer({
    openDatabase: async (url) => {
      proxy = await startDatabaseProxy(url);
      opened = openDatabase(proxy.url, { waitMilliseconds });
      return opened;
    },
  });
});
afterAll(async () => {
  await opened.close();
  await proxy[Symbol.asyncDispose]();
  await test[Symbol.asyncDispose]();
});
beforeEach(() => {
  proxy.resume();
  test.identities.forgetKeys();
});

let names = 0;

function addSite(headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
  names += 1;
  const body = siteFields(test.company.company_id, { display_name: `Site ${names}` });
  return test.call("POST", "/v2/sites", { body, headers });
}

/** Read in a snapshot because of its two filters. */
const activityPath = () =>
  `/v2/company/${test.company.company_id}/activity-logs?category=siteActions&id_api_key=${test.company.company_id}`;

const requests: readonly (readonly [string, number, () => Promise<Reply>])[] = [
  ["validate", 200, () => test.call("GET", "/v2/validate")],
  ["a list", 200, () => test.call("GET", `/v2/sites?company=${test.company.company_id}`)],
  ["the activity log", 200, () => test.call("GET", activityPath())],
  ["a change", 202, () => addSite()],
  ["a change with an Idempotency-Key", 202, () => addSite({ "idempotency-key": `key-${names}` })],
];

async function countSites(): Promise<number> {
  const { rows } = await opened.pool.query<{ count: number }>("select count(*)::int as count from sites");
  return rows[0]?.count ?? 0;
}

describe.each(["lose", "lose the answer"] as const)("PostgreSQL restarts: %s", (fault) => {
  it.each(requests)("%s succeeds", async (name, status, send) => {
    for (let messages = 0; ; messages += 1) {
      test.identities.forgetKeys();
      const before = await countSites();
      void proxy.failAt(after(messages), fault);
      const reply = await send();
      const hasFailed = proxy.hasFailed();
      proxy.resume();
      // Work of a keyed request may have reached a site before, so its later changes are not repeated.
      const isRefused = name.includes("Key") && reply.status === 503;
      if (isRefused) expect(reply.headers["retry-after"]).toBe("5");
      else expect([messages, reply.status, reply.text]).toEqual([messages, status, expect.any(String)]);
      expect(await countSites()).toBe(before + (reply.status === 202 ? 1 : 0));
      if (!hasFailed) break;
    }
  });
});

describe("PostgreSQL hangs", () => {
  it.each(requests)("and continues: %s succeeds late", async (_name, status, send) => {
    for (let messages = 0; ; messages += 1) {
      test.identities.forgetKeys();
      const failed = proxy.failAt(after(messages), "hang");
      const reply = send();
      await Promise.race([failed, reply]);
      proxy.resume();
      expect([messages, (await reply).status]).toEqual([messages, status]);
      if (!proxy.hasFailed()) break;
    }
  });

  it.each(requests)(
    "for longer than requests wait: %s gets a 503, and nothing changes",
    async (_name, status, send) => {
      // Not at each message, because each takes as long as requests wait.
      for (let messages = 0; ; messages += 3) {
        test.identities.forgetKeys();
        const before = await countSites();
        const isChosen = after(messages);
        void proxy.failAt((message) => !isCommit(message) && isChosen(message), "hang");
        const reply = await send();
        const hasFailed = proxy.hasFailed();
        proxy.resume();
        const expected = hasFailed ? [messages, 503, "5"] : [messages, status, undefined];
        expect([messages, reply.status, hasFailed ? reply.headers["retry-after"] : undefined]).toEqual(expected);
        expect(await countSites()).toBe(before + (reply.status === 202 ? 1 : 0));
        if (!hasFailed) break;
      }
    },
  );

  it("a change that may be carried out gets its outcome late", async () => {
    const committing = proxy.failAt(isCommit, "hang");
    const reply = addSite();
    await committing;
    test.identities.forgetKeys();
    expect((await test.call("GET", "/v2/validate")).status).toBe(503);
    proxy.resume();
    expect((await reply).status).toBe(202);
  });

  it("repeated reads succeed late if it continues, and get a 503 otherwise", async () => {
    const port = await test.listen();
    const headers = { authorization: `Bearer ${test.company.api_key}` };
    const read = () => fetch(`http://127.0.0.1:${port}/v2/sites?company=${test.company.company_id}`, { headers });
    for (let count = 0; count < 3; count += 1) expect((await read()).status).toBe(200);
    const late = proxy.failAt(after(0), "hang");
    const reply = read();
    await late;
    proxy.resume();
    expect((await reply).status).toBe(200);
    void proxy.failAt(after(0), "hang");
    const refused = await read();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await refused.text()).toContain("Nothing was changed");
    proxy.resume();
    expect((await read()).status).toBe(200);
  });
});
