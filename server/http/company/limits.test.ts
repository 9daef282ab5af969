import { randomUUID } from "node:crypto";
import { commonLimits, removeCompanyLimits, setCompanyLimits } from "@sitewright/server/store/company/companyLimits.ts";
import { afterEach, describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const companyId = () => test.current.company.company_id;
const call: typeof test.current.call = (...given) => test.current.call(...given);
const limitsOf = async () => (await call("GET", `/v2/company/${companyId()}/limits`)).body.company;
const limit = (limits: Parameters<typeof setCompanyLimits>[2], id: string | null = companyId()) =>
  test.current.database.transaction().execute((open) => setCompanyLimits(open, id, limits));

afterEach(async () => {
  await test.current.database.transaction().execute((open) => removeCompanyLimits(open, companyId()));
  await test.current.database.transaction().execute((open) => removeCompanyLimits(open, null));
});

const newSite = (path = "/v2/sites") => {
  const wordpress = { is_subdomain_multisite: false, admin_email: "a@example.com", admin_password: "Sup3r-secret!" };
  const more = {
    admin_user: "admin",
    is_multisite: false,
    site_title: "Title",
    woocommerce: false,
    wordpressseo: false,
  };
  const site = { company: companyId(), display_name: `Site ${Math.random()}`, region: "europe-west3" };
  return call("POST", path, { body: { ...site, ...wordpress, ...more, wp_language: "en_US" } });
};

describe("GET /company/{id}/limits", () => {
  it("has the limits in force and how much of them is used", async () => {
    expect((await limitsOf()).limits).toEqual({
      sites: null,
      environments: null,
      domains: 1000,
      disk_bytes: null,
      thread_count: null,
      thread_memory: null,
      api_keys: 100,
      mail_recipients_per_hour: null,
    });
    const before = (await limitsOf()).use;
    const { id } = await test.current.addSiteWithEnvironment();
    await test.current.database.updateTable("environments").set({ disk_bytes: 7_000 }).where("id", "=", id).execute();
    await limit({ sites: 5, php_threads: 3 });
    const { limits, use } = await limitsOf();
    expect(limits).toMatchObject({ sites: 5, thread_count: 3, api_keys: 100 });
    expect(use).toEqual({
      ...before,
      sites: before.sites + 1,
      environments: before.environments + 2,
      disk_bytes: before.disk_bytes + 7_000,
    });
  });

  it("shows the common limits to companies without their own, which keep the others when one changes", async () => {
    await limit({ sites: 3, environments: 9 }, null);
    expect((await limitsOf()).limits).toMatchObject({ sites: 3, environments: 9 });
    await limit({ sites: 50 });
    expect((await limitsOf()).limits).toMatchObject({ sites: 50, environments: 9 });
    await limit({ environments: 1 }, null);
    expect((await limitsOf()).limits).toMatchObject({ sites: 50, environments: 9 });
    expect(await commonLimits(test.current.database)).toMatchObject({ sites: 3, environments: 1 });
  });

  it("is refused to keys that are restricted to sites", async () => {
    const siteId = await test.current.addSite();
    const { token: key } = await test.current.addKey({ scopes: [`site:${siteId}`] });
    expect((await call("GET", `/v2/company/${companyId()}/limits`, { key })).status).toBe(403);
  });
});

describe("a company at its limit", () => {
  const fillUp = async (names: ("sites" | "environments" | "domains" | "api_keys")[]) => {
    const { use } = await limitsOf();
    await limit(Object.fromEntries(names.map((name) => [name, use[name]])));
    return use;
  };
  const refused = (name: string, current: number) => ({
    status: 400,
    data: { code: "company_limit_reached", limit: name, maximum: current, current },
  });

  it("gets no more sites, in any way", async () => {
    const { siteId, id } = await test.current.addSiteWithEnvironment();
    const deleted = await test.current.addSite();
    await test.current.deleteSite(deleted);
    const { sites } = await fillUp(["sites"]);
    const plain = { company: companyId(), display_name: "More", region: "europe-west3" };
    const clone = { company: companyId(), display_name: "More", source_env_id: id };
    const restore = `/v2/company/${companyId()}/deleted-sites/${deleted}/restore`;
    for (const answer of [
      await newSite(),
      await call("POST", "/v2/sites/plain", { body: plain }),
      await call("POST", "/v2/sites/clone", { body: clone }),
      await call("POST", restore, { body: {} }),
    ]) {
      expect(answer.body).toMatchObject(refused("sites", sites));
    }
    expect((await limitsOf()).use.sites).toBe(sites);
    expect((await call("GET", `/v2/sites/${siteId}`)).status).toBe(200);
  });

  it("gets no more environments, in any way", async () => {
    const { siteId, id, liveId } = await test.current.addSiteWithEnvironment();
    await test.current.deleteEnvironment(id);
    const { environments } = await fillUp(["environments"]);
    const plain = { display_name: "More", is_premium: false };
    const restore = `/v2/sites/${siteId}/deleted-environments/${id}/restore`;
    for (const answer of [
      await newSite(),
      await call("POST", `/v2/sites/${siteId}/environments/plain`, { body: plain }),
      await call("POST", `/v2/sites/${siteId}/environments/clone`, { body: { ...plain, source_env_id: liveId } }),
      await call("POST", restore, { body: {} }),
    ]) {
      expect(answer.body).toMatchObject(refused("environments", environments));
    }
    expect((await limitsOf()).use.environments).toBe(environments);
  });

  it("gets no more domains, and those of its environments themselves don't count", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const add = (more: object = {}) => {
      const body = { domain_name: `d${randomUUID()}.example.com`, is_wildcardless: true, ...more };
      return call("POST", `/v2/sites/environments/${id}/domains`, { body, headers: { "when-busy": "queue" } });
    };
    expect((await add()).status).toBe(202);
    const { domains } = await fillUp(["domains"]);
    expect(domains).toBe(1);
    expect((await add()).body).toMatchObject(refused("domains", domains));
    await limit({ domains: domains + 1 });
    const withWww = await add({ is_wildcardless: false, add_with_www_subdomain: true });
    expect(withWww.body).toMatchObject({ data: { code: "company_limit_reached", maximum: domains + 1 } });
    expect((await add()).status).toBe(202);
  });

  it("gets no more keys, but one for each that it revokes", async () => {
    const keys = `/v2/company/${companyId()}/api-keys`;
    const { id } = await test.current.addKey({});
    const { api_keys } = await fillUp(["api_keys"]);
    const create = () => call("POST", keys, { body: { name: "More" } });
    expect((await create()).body).toMatchObject(refused("api_keys", api_keys));
    await call("DELETE", `${keys}/${id}`);
    expect((await create()).status).toBe(201);
    expect((await create()).body).toMatchObject(refused("api_keys", api_keys));
  });

  it("does not exceed it with requests at the same time", async () => {
    const { use } = await limitsOf();
    await limit({ sites: use.sites + 2 });
    const answers = await Promise.all(Array.from({ length: 6 }, () => newSite()));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 202, 400, 400, 400, 400]);
    expect((await limitsOf()).use.sites).toBe(use.sites + 2);
  });

  it("does not limit other companies", async () => {
    await limit({ sites: 0 });
    await expect(test.current.addSite({}, test.current.otherCompany.api_key)).resolves.toBeTypeOf("string");
  });
});

describe("an environment", () => {
  const limitsPath = (id: string) => `/v2/sites/environments/${id}/limits`;
  const allocate = (id: string, body: object) =>
    call("POST", `/v2/sites/environments/${id}/change-environment-php-allocation`, { body });

  it("never has more than its company", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    await limit({ php_threads: 1, php_memory_mb: 128, disk_bytes: 3_000_000 });
    const { limits, bounds } = (await call("GET", limitsPath(id))).body.environment;
    expect(limits).toMatchObject({ thread_count: 1, thread_memory: 128, disk_bytes: 3_000_000 });
    expect(bounds).toMatchObject({
      thread_count: { maximum: 1 },
      thread_memory: { maximum: 128 },
      disk_bytes: { maximum: 3_000_000 },
    });
    for (const answer of [
      await allocate(id, { thread_count: 2, thread_memory: 128 }),
      await allocate(id, { thread_count: 1, thread_memory: 129 }),
      await call("PUT", limitsPath(id), { body: { disk_bytes: 3_000_001 } }),
    ]) {
      expect(answer.body).toMatchObject({ status: 400, data: { code: "limit_out_of_bounds" } });
    }
    expect((await call("PUT", limitsPath(id), { body: { disk_bytes: 3_000_000 } })).status).toBe(202);
  });
});
