/** What clients get while PostgreSQL restarts or hangs, at each message of a request to it. */
import { type OpenDatabase, openDatabase } from "@sitewright/server/store/open.ts";
import { DatabaseUnavailable } from "@sitewright/server/store/outages.ts";
import { after, type DatabaseProxy, isCommit, startDatabaseProxy } from "@sitewright/server/testing/databaseProxy.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Reply, siteFields, startTestServer, type TestServer } from "./testing/server.ts";

/** Requests that succeed must not depend on the speed of the machine. */
const longWait = 15_000;
/** For requests that wait in vain. */
const shortWait = 300;

interface Outage extends AsyncDisposable {
  readonly proxy: DatabaseProxy;
  /** The server's connections, through the proxy. */
  readonly opened: OpenDatabase;
  readonly test: TestServer;
  countSites(): Promise<number>;
}

/** `waitMilliseconds`: how long requests wait for the database. */
async function startOutage(waitMilliseconds: number): Promise<Outage> {
  const started = Promise.withResolvers<Pick<Outage, "proxy" | "opened"> & { readonly direct: OpenDatabase }>();
  const test = await startTestServer({
    openDatabase: async (url) => {
      const proxy = await startDatabaseProxy(url);
      const opened = openDatabase(proxy.url, { waitMilliseconds });
      started.resolve({ proxy, opened, direct: openDatabase(url) });
      return opened;
    },
  });
  const { proxy, opened, direct } = await started.promise;
  return {
    proxy,
    opened,
    test,
    countSites: async () => {
      // Statements that were held are carried out before their connections end.
      await expect.poll(() => proxy.connections()).toBe(opened.pool.totalCount);
      const { rows } = await direct.pool.query<{ count: number }>("select count(*)::int as count from sites");
      return rows[0]?.count ?? 0;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([opened.close(), direct.close()]);
      await proxy[Symbol.asyncDispose]();
      await test[Symbol.asyncDispose]();
    },
  };
}

let patient: Outage;
let impatient: Outage;

beforeAll(async () => {
  patient = await startOutage(longWait);
  impatient = await startOutage(shortWait);
});
afterAll(async () => {
  await patient[Symbol.asyncDispose]();
  await impatient[Symbol.asyncDispose]();
});
beforeEach(() => {
  for (const { proxy, test } of [patient, impatient]) {
    proxy.resume();
    test.identities.forgetKeys();
  }
});

let names = 0;

function addSite({ test }: Outage, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
  names += 1;
  const body = siteFields(test.company.company_id, { display_name: `Site ${names}` });
  return test.call("POST", "/v2/sites", { body, headers });
}

/** Read in a snapshot because of its two filters. */
const activityPath = ({ company_id }: TestServer["company"]) =>
  `/v2/company/${company_id}/activity-logs?category=siteActions&id_api_key=${company_id}`;

type Send = (outage: Outage) => Promise<Reply>;
const withKey: Send = (outage) => addSite(outage, { "idempotency-key": `key-${names}` });

const requests: readonly (readonly [string, number, Send])[] = [
  ["validate", 200, ({ test }) => test.call("GET", "/v2/validate")],
  ["a list", 200, ({ test }) => test.call("GET", `/v2/sites?company=${test.company.company_id}`)],
  ["the activity log", 200, ({ test }) => test.call("GET", activityPath(test.company))],
  ["a change", 202, (outage) => addSite(outage)],
  ["a change with an Idempotency-Key", 202, withKey],
];

describe.each(["lose", "lose the answer"] as const)("PostgreSQL restarts: %s", (fault) => {
  it.each(requests)("%s succeeds", async (_name, status, send) => {
    const { proxy, test, countSites } = patient;
    let successes = 0;
    for (let messages = 0; ; messages += 1) {
      test.identities.forgetKeys();
      const before = await countSites();
      void proxy.failAt(after(messages), fault);
      const reply = await send(patient);
      const hasFailed = proxy.hasFailed();
      proxy.resume();
      // Work of a keyed request may have reached a site before, so its later changes are not repeated.
      const isRefused = send === withKey && reply.status === 503;
      if (isRefused) expect(reply.headers["retry-after"]).toBe("5");
      else expect([messages, reply.status, reply.text]).toEqual([messages, status, expect.any(String)]);
      expect(await countSites()).toBe(before + (reply.status === 202 ? 1 : 0));
      if (!hasFailed) break;
      if (!isRefused) successes += 1;
    }
    expect(successes).toBeGreaterThan(0);
  });
});

describe("PostgreSQL hangs", () => {
  it.each(requests)("and continues: %s succeeds late", async (_name, status, send) => {
    const { proxy, test } = patient;
    for (let messages = 0; ; messages += 1) {
      test.identities.forgetKeys();
      const failed = proxy.failAt(after(messages), "hang");
      const reply = send(patient);
      await Promise.race([failed, reply]);
      proxy.resume();
      expect([messages, (await reply).status]).toEqual([messages, status]);
      if (!proxy.hasFailed()) break;
    }
  });

  it.each(requests)(
    "for longer than requests wait: %s gets a 503, and nothing changes",
    async (_name, _status, send) => {
      const { proxy, test, countSites } = impatient;
      // Not at each message, because each takes as long as requests wait.
      for (let messages = 0; ; messages += 3) {
        test.identities.forgetKeys();
        const before = await countSites();
        const isChosen = after(messages);
        void proxy.failAt((message) => !isCommit(message) && isChosen(message), "hang");
        const reply = await send(impatient);
        const hasFailed = proxy.hasFailed();
        proxy.resume();
        if (!hasFailed) break;
        expect([messages, reply.status, reply.headers["retry-after"]]).toEqual([messages, 503, "5"]);
        expect(await countSites()).toBe(before);
      }
    },
  );

  it.each([
    ["a change", addSite],
    ["a change with an Idempotency-Key", withKey],
  ] as const)("at COMMIT, for longer than requests wait: %s gets its outcome late", async (_name, send) => {
    const { proxy, opened, test, countSites } = impatient;
    const before = await countSites();
    // A busy machine may take longer to open one than requests wait.
    const other = await vi.waitUntil(() => opened.pool.connect().catch(() => null), { timeout: 60_000 });
    const committing = proxy.failAt(isCommit, "hang");
    const reply = send(impatient);
    await committing;
    // Sent later than the COMMIT, so that has waited for longer.
    await expect(other.query("select 1")).rejects.toBeInstanceOf(DatabaseUnavailable);
    other.release(true);
    test.identities.forgetKeys();
    expect((await test.call("GET", "/v2/validate")).status).toBe(503);
    proxy.resume();
    expect((await reply).status).toBe(202);
    expect(await countSites()).toBe(before + 1);
  });

  it("after WordPress has created a user: the response says that the change may have been made", async () => {
    const { proxy, test } = impatient;
    const { id } = await test.addSiteWithEnvironment();
    void proxy.failAt((message) => message.includes("createWpAdminUser"), "hang");
    const body = { email: "new@example.com", first_name: "New", last_name: "User" };
    const reply = await test.call("POST", `/v2/sites/environments/${id}/wpa-create-user`, { body });
    expect([reply.status, reply.body.message]).toEqual([500, expect.stringContaining("may have been made")]);
  });

  it("repeated reads succeed late if it continues", async () => {
    const { proxy, test } = patient;
    const read = await repeatRead(test);
    const late = proxy.failAt(after(0), "hang");
    const reply = read();
    await late;
    proxy.resume();
    expect((await reply).status).toBe(200);
  });

  it("for longer than requests wait: repeated reads get a 503", async () => {
    const { proxy, test } = impatient;
    const read = await repeatRead(test);
    void proxy.failAt(after(0), "hang");
    const refused = await read();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await refused.text()).toContain("Nothing was changed");
    proxy.resume();
    await expect.poll(async () => (await read()).status).toBe(200);
  });
});

/** Returns a read that was sent before, so its response is kept. */
async function repeatRead(test: TestServer): Promise<() => Promise<Response>> {
  const port = await test.listen();
  const headers = { authorization: `Bearer ${test.company.api_key}` };
  const read = () => fetch(`http://127.0.0.1:${port}/v2/sites?company=${test.company.company_id}`, { headers });
  for (let count = 0; count < 3; count += 1) expect((await read()).status).toBe(200);
  return read;
}
