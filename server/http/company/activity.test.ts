import { randomUUID } from "node:crypto";
import { languages, type listActivity } from "@sitewright/contract/company/activity.ts";
import type { Result } from "@sitewright/contract/endpoint.ts";
import { describe, expect, it } from "vitest";
import { siteFields, useTestServer } from "../testing/server.ts";

const test = useTestServer();

type Log = Result<typeof listActivity>;

async function log(query = "", options = {}): Promise<Log> {
  const { call, company } = test.current;
  const { body } = await call("GET", `/v2/company/${company.company_id}/activity-logs${query}`, options);
  return body.company.activity_logs;
}

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

describe("an entry", () => {
  it("has the action, the user, the key and the client", async () => {
    const { call, company, database } = test.current;
    const fields = siteFields(company.company_id, { display_name: "Logged" });
    const before = Date.now();
    await call("POST", "/v2/sites", { body: fields, headers: { "user-agent": firefox } });
    const key = await database
      .selectFrom("api_keys")
      .selectAll()
      .where("company_id", "=", company.company_id)
      .executeTakeFirstOrThrow();
    const { items } = await log("?limit=1");
    expect(items).toEqual([
      {
        id: expect.any(Number),
        site_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        created_at: expect.any(Number),
        is_done: false,
        has_failed: false,
        has_warning: false,
        type: "addSite",
        public_error: null,
        ip_address: "127.0.0.1",
        initiated_by: { id: key.user_id, role: "owner", full_name: "Owner", first_name: "Owner" },
        user_agent_info: { browser_name: "Firefox", browser_version: "140.0", os_name: "Linux" },
        api_key_info: { id: key.id, name: "First key" },
        descriptions: ["Add the site “Logged”"],
      },
    ]);
    expect(items[0]?.created_at).toBeGreaterThanOrEqual(before - 1_000);
  });

  it("is done and has not failed after the operation has succeeded", async () => {
    const { addSite } = test.current;
    const id = await addSite();
    expect((await log(`?site_id=${id}`)).items).toMatchObject([{ is_done: true, has_failed: false }]);
  });

  it("has the public reason of a failure", async () => {
    const { call, company, fail } = test.current;
    const { body } = await call("POST", "/v2/sites", { body: siteFields(company.company_id) });
    await fail(body.operation_id, "The disk is full.");
    expect((await log("?limit=1")).items).toMatchObject([
      { is_done: true, has_failed: true, public_error: "The disk is full." },
    ]);
  });

  it("is also written for changes without an operation", async () => {
    const { addKey, call, company } = test.current;
    const { id } = await addKey({ name: "Robot" });
    await call("DELETE", `/v2/company/${company.company_id}/api-keys/${id}`);
    const { items } = await log("?limit=2&category=userManagement");
    expect(items.map(({ type, descriptions, is_done }) => [type, descriptions, is_done])).toEqual([
      ["revokeApiKey", ["Revoke the API key “Robot”"], true],
      ["createApiKey", ["Create the API key “Robot”"], true],
    ]);
  });

  it("is not written for refused requests", async () => {
    const { call, company } = test.current;
    const { total } = await log();
    await call("POST", "/v2/sites", { body: siteFields(company.company_id, { region: "nowhere" }) });
    expect((await log()).total).toBe(total);
  });
});

describe("the activity log", () => {
  it("is sorted newest first, in pages of 10 by default and 100 at most, with an exact total", async () => {
    const { company, database } = test.current;
    const entries = Array.from({ length: 130 }, (_, number) => ({
      company_id: company.company_id,
      category: "billing",
      type: `bulk${number}`,
      parameters: "{}",
    }));
    await database.insertInto("activity").values(entries).execute();
    const page = await log("?category=billing");
    expect(page.total).toBe(130);
    expect(page.items.map(({ type }) => type)).toEqual(Array.from({ length: 10 }, (_, at) => `bulk${129 - at}`));
    expect((await log("?category=billing&limit=1000")).items).toHaveLength(100);
    expect((await log("?category=billing&limit=100&offset=100")).items).toHaveLength(30);
    expect((await log("?category=billing&limit=0")).items).toEqual([]);
    expect((await log("?category=billing&offset=2147483647")).items).toEqual([]);
  });

  it("has null for unknown fields", async () => {
    const { items } = await log("?category=billing&limit=1");
    expect(items[0]).toMatchObject({
      site_id: null,
      public_error: null,
      ip_address: null,
      initiated_by: null,
      user_agent_info: null,
      api_key_info: null,
      descriptions: null,
    });
  });

  it("filters by site, user and key, also combined", async () => {
    const { addKey, addSite, database } = test.current;
    const key = await addKey({ name: "Filter" });
    const site = await addSite({}, key.token);
    const { user_id: user } = await database
      .selectFrom("api_keys")
      .select("user_id")
      .where("id", "=", key.id)
      .executeTakeFirstOrThrow();
    const ofKey = await log(`?id_api_key=${key.id}`);
    expect(ofKey).toMatchObject({ total: 1, items: [{ site_id: site }] });
    expect((await log(`?site_id=${site}&id_initiated_by=${user}&id_api_key=${key.id}`)).total).toBe(1);
    expect((await log(`?site_id=${site}&category=billing`)).total).toBe(0);
    expect((await log(`?id_initiated_by=${user}`)).total).toBeGreaterThan(1);
  });

  it("is empty for unknown and malformed ids", async () => {
    for (const id of [randomUUID(), "1", "'; DROP TABLE activity; --", "🦄"]) {
      for (const name of ["site_id", "id_initiated_by", "id_api_key"]) {
        expect(await log(`?${name}=${encodeURIComponent(id)}`)).toEqual({ items: [], total: 0 });
      }
    }
  });

  it("never shows another company's entries", async () => {
    const { addSite, otherCompany } = test.current;
    const site = await addSite({}, otherCompany.api_key);
    expect((await log(`?site_id=${site}`)).total).toBe(0);
  });

  it.each([
    ["category=sports", "/category"],
    ["language=tlh", "/language"],
    ["limit=ten", "/limit"],
    ["limit=-1", "/limit"],
    ["limit=1.5", "/limit"],
    ["limit=1&limit=2", "/limit"],
    ["offset=99999999999", "/offset"],
    ["before=last", "/before"],
    ["before=0", "/before"],
    ["before=-4711", "/before"],
    ["before=1.5", "/before"],
    ["before=99999999999999999999", "/before"],
    ["site_id=%00", "/site_id"],
  ])("refuses %s", async (query, path) => {
    const { call, company } = test.current;
    const answer = await call("GET", `/v2/company/${company.company_id}/activity-logs?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors.map((fault: { path: string }) => fault.path)).toEqual([path]);
  });

  it("explains why an id to continue from is invalid", async () => {
    const { call, company } = test.current;
    const path = `/v2/company/${company.company_id}/activity-logs`;
    const faults = async (before: string) => (await call("GET", `${path}?before=${before}`)).body.data.errors;
    expect(await faults("abc")).toEqual([{ path: "/before", message: "must be an integer" }]);
    expect(await faults("0")).toEqual([{ path: "/before", message: "must be at least 1" }]);
  });

  it("can be read on from an id, whatever was written since", async () => {
    const { addKey } = test.current;
    for (const name of ["One", "Two", "Three"]) await addKey({ name });
    const { items } = await log("?limit=3");
    const [newest, , oldest] = items.map(({ id }) => id);
    await addKey({ name: "Four" });
    const later = await log(`?limit=2&before=${newest}`);
    expect(later.items.map(({ id }) => id)).toEqual(items.slice(1).map(({ id }) => id));
    expect(later.total).toBe((await log()).total);
    expect((await log(`?limit=1&before=${oldest}&category=userManagement`)).items[0]?.id).toBeLessThan(oldest ?? 0);
  });

  it("shows a key that is limited to sites only those, and their number", async () => {
    const { addKey, addSite } = test.current;
    const [own, second, other] = [await addSite(), await addSite(), await addSite()];
    const { token } = await addKey({ scopes: [`site:${own}`, `site:${second}`] });
    const both = await log("", { key: token });
    expect(both).toMatchObject({ total: 2, items: [{ site_id: second }, { site_id: own }] });
    expect((await log(`?site_id=${own}`, { key: token })).total).toBe(1);
    expect((await log(`?site_id=${other}`, { key: token })).total).toBe(0);
  });

  it("has descriptions in every language, with names exactly as typed", async () => {
    const { addSite } = test.current;
    const id = await addSite({ display_name: 'Ça $& "x"' });
    const sentences = new Set<string>();
    for (const language of languages) {
      const { items } = await log(`?site_id=${id}&language=${language}`);
      expect(items[0]?.descriptions?.[0]).toContain('Ça $& "x"');
      sentences.add(items[0]?.descriptions?.[0] ?? "");
    }
    expect(sentences.size).toBe(languages.length);
  });
});
