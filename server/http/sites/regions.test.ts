import { fakeCapabilities } from "@sitewright/runtimes/fake/runtime.ts";
import { describe, expect, it } from "vitest";
import { siteFields, startTestServer, useTestServer, wordpressFields } from "../testing/server.ts";

const regions = [
  { id: "this-machine", name: "This machine", runtime: "playground" },
  { id: "fast", name: "Fast", runtime: "other" },
] as const;
const otherCapabilities = {
  phpVersions: ["8.1", "8.4"],
  defaultPhpVersion: "8.4",
  locales: ["en_US"],
  multisite: [],
} as const;

const test = useTestServer({
  regions,
  capabilitiesOf: (runtime) => (runtime === "other" ? otherCapabilities : fakeCapabilities),
});

/** The runtime and the PHP version of the site's environments, the oldest first. */
async function phpIn(siteId: string): Promise<string[]> {
  const rows = await test.current.database
    .selectFrom("environments")
    .select(["runtime", "php_version"])
    .where("site_id", "=", siteId)
    .orderBy("number")
    .execute();
  return rows.map(({ runtime, php_version }) => `${runtime} ${php_version}`);
}

async function liveOf(siteId: string): Promise<string> {
  const { body } = await test.current.call("GET", `/v2/sites/${siteId}`);
  return body.site.environments[0].id;
}

/** The region that the API reports for the site: when it is read, and in lists. */
async function reported(siteId: string): Promise<string[]> {
  const { call } = test.current;
  const one = await call("GET", `/v2/sites/${siteId}`);
  const lists = [await call("GET", "/v2/sites"), await call("GET", "/v2/sites?include_environments=false")];
  const listed = lists.map(({ body }) => body.company.sites.find(({ id }: { id: string }) => id === siteId).region);
  return [one.body.site.region, ...listed];
}

describe("a new site", () => {
  it.each([
    ["this-machine", "this-machine"],
    ["fast", "fast"],
    ["europe-west3", "this-machine"],
    ["us-west4", "this-machine"],
  ])("that is requested in %s is in %s", async (region, actual) => {
    const siteId = await test.current.addSite({ region });
    expect(await reported(siteId)).toEqual([actual, actual, actual]);
  });

  it("is refused in an unknown region, with the regions that there are", async () => {
    const { call, company } = test.current;
    const plain = { company: company.company_id, display_name: "Plain", region: "moon-base1" };
    for (const answer of [
      await call("POST", "/v2/sites", { body: siteFields(company.company_id, { region: "moon-base1" }) }),
      await call("POST", "/v2/sites/plain", { body: plain }),
      await call("GET", `/v2/company/${company.company_id}/available-php-versions?region=moon-base1`),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.body.message).toBe('There is no region "moon-base1". Available regions: this-machine, fast.');
      expect(answer.body.data).toEqual({
        code: "unknown_region",
        region: "moon-base1",
        offered: ["this-machine", "fast"],
      });
    }
  });

  it("gets the runtime of its region with its default PHP version, without WordPress too", async () => {
    const { addSite, call, company } = test.current;
    expect(await phpIn(await addSite({ region: "this-machine" }))).toEqual(["playground 8.3"]);
    expect(await phpIn(await addSite({ region: "fast" }))).toEqual(["other 8.4"]);
    const plain = { company: company.company_id, display_name: "Without WordPress", region: "fast" };
    const { body } = await call("POST", "/v2/sites/plain", { body: plain });
    const operation = await call("GET", `/v2/operations/${body.operation_id}`);
    expect(await phpIn(operation.body.data.idSite)).toEqual(["other 8.4"]);
  });

  it.each([
    ["language", { wp_language: "de_DE" }, "unknown_language"],
    ["kind of network", { is_multisite: true }, "multisite_unsupported"],
  ])("can't have a %s that the runtime of its region lacks", async (_, fields, code) => {
    const { addSite, call, company } = test.current;
    const inFast = await call("POST", "/v2/sites", {
      body: siteFields(company.company_id, { region: "fast", ...fields }),
    });
    expect([inFast.status, inFast.body.data.code]).toEqual([400, code]);
    expect(await addSite({ region: "this-machine", ...fields })).toBeTypeOf("string");
  });
});

describe("a new environment", () => {
  const named = { display_name: "Second", is_premium: false };

  it("gets the runtime of its site's region", async () => {
    const { addSite, call } = test.current;
    const siteId = await addSite({ region: "fast" });
    await call("POST", `/v2/sites/${siteId}/environments`, { body: { ...wordpressFields, ...named } });
    await call("POST", `/v2/sites/${siteId}/environments/plain`, { body: { ...named, display_name: "Third" } });
    expect(await phpIn(siteId)).toEqual(["other 8.4", "other 8.4", "other 8.4"]);
    const body = { ...wordpressFields, ...named, display_name: "Fourth", wp_language: "de_DE" };
    const refused = await call("POST", `/v2/sites/${siteId}/environments`, { body });
    expect([refused.status, refused.body.data.code]).toEqual([400, "unknown_language"]);
  });

  it("gets the runtime of the environment that it is a copy of", async () => {
    const { addSite, call, company, database, succeed } = test.current;
    const siteId = await addSite({ region: "fast" });
    await database
      .updateTable("environments")
      .set({ runtime: "playground", php_version: "8.2" })
      .where("site_id", "=", siteId)
      .execute();
    const source_env_id = await liveOf(siteId);
    const copy = await call("POST", `/v2/sites/${siteId}/environments/clone`, { body: { ...named, source_env_id } });
    await succeed(copy.body.operation_id);
    expect(await phpIn(siteId)).toEqual(["playground 8.2", "playground 8.2"]);
    const clone = { company: company.company_id, display_name: "Clone", source_env_id };
    const { body } = await call("POST", "/v2/sites/clone", { body: clone });
    const operation = await call("GET", `/v2/operations/${body.operation_id}`);
    await succeed(body.operation_id);
    expect(await phpIn(operation.body.data.idSite)).toEqual(["playground 8.2"]);
    expect(await reported(operation.body.data.idSite)).toEqual(["fast", "fast", "fast"]);
  });
});

it("a site whose region is not listed any more is in the default one", async () => {
  const { addSite, call, company, database, deleteSite } = test.current;
  const siteId = await addSite();
  await database.updateTable("sites").set({ region: "asia-east1" }).where("id", "=", siteId).execute();
  expect(await reported(siteId)).toEqual(["this-machine", "this-machine", "this-machine"]);
  await deleteSite(siteId);
  const { body } = await call("GET", `/v2/company/${company.company_id}/deleted-sites`);
  expect(body.company.deleted_sites[0]).toMatchObject({ id: siteId, region: "this-machine" });
});

it("a list of sites that a client has kept is outdated when the regions have changed", async () => {
  const { call, company, database, pool, addSite } = test.current;
  await addSite();
  const { headers } = await call("GET", "/v2/sites");
  const kept = { key: company.api_key, headers: { "if-none-match": String(headers.etag) } };
  expect((await call("GET", "/v2/sites", kept)).status).toBe(304);
  const openDatabase = async () => ({ database, pool });
  const renamed = [{ id: "helsinki", name: "Helsinki", runtime: "playground" }] as const;
  await using restarted = await startTestServer({ regions: renamed, openDatabase });
  const { status, body } = await restarted.call("GET", "/v2/sites", kept);
  expect([status, body?.company.sites[0].region]).toEqual([200, "helsinki"]);
});

it("a deleted site is restored with its region and runtimes", async () => {
  const { addSite, call, company, deleteSite } = test.current;
  const siteId = await addSite({ region: "fast" });
  await deleteSite(siteId);
  const list = await call("GET", `/v2/company/${company.company_id}/deleted-sites`);
  expect(list.body.company.deleted_sites[0]).toMatchObject({ id: siteId, region: "fast" });
  const restored = await call("POST", `/v2/company/${company.company_id}/deleted-sites/${siteId}/restore`, {
    body: {},
  });
  await test.current.succeed(restored.body.operation_id);
  expect(await phpIn(siteId)).toEqual(["other 8.4"]);
  expect(await reported(siteId)).toEqual(["fast", "fast", "fast"]);
});

it("the regions are listed with their names, the default one first", async () => {
  const { call, company } = test.current;
  const { body } = await call("GET", `/v2/company/${company.company_id}/available-regions`);
  expect(body.company.available_regions).toEqual([
    { region: "this-machine", name: "This machine" },
    { region: "fast", name: "Fast" },
  ]);
});

describe("PHP versions", () => {
  it.each([
    ["", ["8.2", "8.3", "8.4"], "8.3"],
    ["?region=this-machine", ["8.2", "8.3", "8.4"], "8.3"],
    ["?region=asia-east1", ["8.2", "8.3", "8.4"], "8.3"],
    ["?region=fast", ["8.1", "8.4"], "8.4"],
  ])("are listed for a region (%s)", async (query, versions, usual) => {
    const { call, company } = test.current;
    const { body } = await call("GET", `/v2/company/${company.company_id}/available-php-versions${query}`);
    const listed: { php_version: string; is_default: boolean }[] = body.company.available_php_versions;
    expect(listed.map(({ php_version }) => php_version)).toEqual(versions);
    expect(listed.filter(({ is_default }) => is_default).map(({ php_version }) => php_version)).toEqual([usual]);
  });

  it("of an environment are those of its runtime", async () => {
    const { addSite, call } = test.current;
    const change = async (region: string, php_version: string) => {
      const environment_id = await liveOf(await addSite({ region }));
      return call("PUT", "/v2/sites/tools/modify-php-version", { body: { environment_id, php_version } });
    };
    const refused = await change("fast", "8.3");
    expect(refused.status).toBe(400);
    expect(refused.body.data).toEqual({
      code: "unknown_php_version",
      php_version: "8.3",
      offered: otherCapabilities.phpVersions,
    });
    expect((await change("fast", "8.1")).status).toBe(202);
    expect((await change("this-machine", "8.3")).status).toBe(202);
    expect((await change("this-machine", "8.1")).status).toBe(400);
  });
});
