import { randomUUID } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { siteFields, useTestServer } from "./testing/server.ts";

const test = useTestServer();
const keyed = () => ({ "idempotency-key": randomUUID() });

async function countOperations(): Promise<number> {
  const rows = await test.current.database.selectFrom("operations").select("id").execute();
  return rows.length;
}

describe("a request with an Idempotency-Key", () => {
  it("is carried out once, and repetitions get the same response", async () => {
    const { call, company } = test.current;
    const request = { body: siteFields(company.company_id), headers: keyed() };
    const before = await countOperations();
    const first = await call("POST", "/v2/sites", request);
    const second = await call("POST", "/v2/sites", request);
    expect(first.status).toBe(202);
    expect([second.status, second.text, second.headers.location]).toEqual([202, first.text, first.headers.location]);
    expect(second.headers["idempotency-replayed"]).toBe("true");
    expect(first.headers["idempotency-replayed"]).toBeUndefined();
    expect(await countOperations()).toBe(before + 1);
  });

  it("is carried out once if more copies arrive at once than there are database connections", async () => {
    const { call, company } = test.current;
    const request = { body: siteFields(company.company_id), headers: keyed() };
    const before = await countOperations();
    const answers = await Promise.all(Array.from({ length: 25 }, () => call("POST", "/v2/sites", request)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.every(({ status }) => status === 202)).toBe(true);
    expect(await countOperations()).toBe(before + 1);
  });

  it("does not block requests with other keys", async () => {
    const { call, company } = test.current;
    const answers = await Promise.all(
      Array.from({ length: 25 }, () =>
        call("POST", "/v2/sites", { body: siteFields(company.company_id), headers: keyed() }),
      ),
    );
    expect(answers.every(({ status }) => status === 202)).toBe(true);
  });

  it("is refused if the key was used with another body or path", async () => {
    const { addSite, call, company } = test.current;
    const headers = keyed();
    await call("POST", "/v2/sites", { body: siteFields(company.company_id), headers });
    const otherBody = await call("POST", "/v2/sites", { body: siteFields(company.company_id), headers });
    const otherPath = await call("DELETE", `/v2/sites/${await addSite()}`, { headers });
    for (const answer of [otherBody, otherPath]) {
      expect(answer.status).toBe(400);
      expect(answer.body.data).toEqual({ code: "idempotency_key_reused" });
    }
  });

  it("does not conflict with the same Idempotency-Key of another API key", async () => {
    const { call, company, otherCompany } = test.current;
    const headers = keyed();
    const first = await call("POST", "/v2/sites", { body: siteFields(company.company_id), headers });
    const body = siteFields(otherCompany.company_id);
    const second = await call("POST", "/v2/sites", { body, headers, key: otherCompany.api_key });
    expect(second.status).toBe(202);
    expect(second.body.operation_id).not.toBe(first.body.operation_id);
  });

  it("that was refused is refused in the same way again", async () => {
    const { addSite, call, company, database } = test.current;
    const id = await addSite({ display_name: "Taken for a while" });
    const request = {
      body: siteFields(company.company_id, { display_name: "Taken for a while" }),
      headers: keyed(),
    };
    const first = await call("POST", "/v2/sites", request);
    await database.deleteFrom("sites").where("id", "=", id).execute();
    const second = await call("POST", "/v2/sites", request);
    expect(first.body.data.code).toBe("site_name_taken");
    expect(second.text).toBe(first.text);
  });

  it("gets the same response after its resource has been deleted", async () => {
    const { addSite, call, database } = test.current;
    const id = await addSite();
    const headers = keyed();
    const first = await call("DELETE", `/v2/sites/${id}`, { headers });
    await database.deleteFrom("sites").where("id", "=", id).execute();
    const second = await call("DELETE", `/v2/sites/${id}`, { headers });
    expect(second.text).toBe(first.text);
    expect((await call("DELETE", `/v2/sites/${id}`)).status).toBe(404);
  });

  it("returns a new key's token again, although the database does not contain it", async () => {
    const { call, company, database } = test.current;
    const request = { body: { name: "Once" }, headers: keyed() };
    const path = `/v2/company/${company.company_id}/api-keys`;
    const first = await call("POST", path, request);
    const second = await call("POST", path, request);
    expect(second.body.token).toBe(first.body.token);
    const stored = await database.selectFrom("idempotency_keys").selectAll().execute();
    const secret = first.body.token.slice(-40);
    expect(JSON.stringify(stored)).not.toContain(secret);
    expect(stored.map(({ body }) => Buffer.from(body ?? "", "base64").toString("latin1")).join()).not.toContain(secret);
  });

  it("is forgotten after 24 hours", async () => {
    const { call, company, database } = test.current;
    const headers = keyed();
    const first = await call("POST", "/v2/sites", { body: siteFields(company.company_id), headers });
    const dayAgo = new Date(Date.now() - 24 * 3_600_000 - 1_000);
    await database.updateTable("idempotency_keys").set({ created_at: dayAgo }).execute();
    const second = await call("POST", "/v2/sites", { body: siteFields(company.company_id), headers });
    expect(second.status).toBe(202);
    expect(second.body.operation_id).not.toBe(first.body.operation_id);
  });

  it.each(["", "with space", "é", "x".repeat(256)])("is refused if the key is malformed: %j", async (key) => {
    const { call, company } = test.current;
    const answer = await call("POST", "/v2/sites", {
      body: siteFields(company.company_id),
      headers: { "idempotency-key": key },
    });
    expect(answer.body.data).toEqual({ code: "idempotency_key_malformed" });
  });

  it("is handled normally if it is a GET", async () => {
    const headers = keyed();
    expect((await test.current.call("GET", "/v2/sites", { headers })).status).toBe(200);
    expect((await test.current.call("GET", "/v2/validate", { headers })).status).toBe(200);
  });
});

describe("requests that wait for a site", () => {
  let released: PromiseWithResolvers<void>;
  const created = { status: 200, body: '{"created":2}', errors: "", reason: null };
  let waiting = 0;
  const slow = useTestServer({
    siteTasks: {
      run: async () => {
        waiting += 1;
        await released.promise;
        return created;
      },
      offerLogin: async () => true,
    },
  });

  it.each([
    ["one Idempotency-Key", 1, () => "same"],
    ["different Idempotency-Keys", 30, () => randomUUID()],
  ])("with %s leave the database to others", async (_, atOnce, newKey) => {
    waiting = 0;
    released = Promise.withResolvers();
    const { addSiteWithEnvironment, call } = slow.current;
    const { id } = await addSiteWithEnvironment();
    const path = `/v2/sites/environments/${id}/wpa-create-user`;
    const requests = Array.from({ length: 30 }, () =>
      call("POST", path, { body: { email: "grace@example.com" }, headers: { "idempotency-key": newKey() } }),
    );
    await vi.waitUntil(() => waiting === atOnce);
    expect((await call("GET", "/v2/validate")).status).toBe(200);
    expect(await slow.current.database.selectFrom("sites").select("id").execute()).not.toEqual([]);
    released.resolve();
    const answers = await Promise.all(requests);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(waiting).toBe(atOnce);
  });
});
