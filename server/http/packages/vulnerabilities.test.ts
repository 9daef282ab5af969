import {
  activateReading,
  addAdvisoryRanges,
  advisoryFeed,
  markOffersVulnerable,
  markVulnerable,
} from "@sitewright/server/store/packages/advisories.ts";
import { putPackages, type TestPackage } from "@sitewright/server/testing/packages.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const without = useTestServer({ hasAdvisories: false });
let own: { id: string; siteId: string };
let other: { id: string; siteId: string };

async function environment(packages: readonly TestPackage[], key?: string) {
  const { addSiteWithEnvironment, database } = test.current;
  const { id, siteId } = await addSiteWithEnvironment(key);
  await putPackages(database, id, packages);
  return { id, siteId };
}

beforeAll(async () => {
  const { database, otherCompany } = test.current;
  own = await environment([{ name: "shop" }]);
  other = await environment([{ name: "leaf", kind: "theme" }, { name: "fine" }]);
  await environment([{ name: "foreign" }], otherCompany.api_key);
  const reading = (await advisoryFeed(database)).reading + 1;
  const range = { from_key: null, is_from_included: true, to_key: null, is_to_included: true, affected: "any – any" };
  const known = { patched: "2.0", title: "Bad", cve: "CVE-1", reference: null };
  await addAdvisoryRanges(database, reading, [
    { advisory_id: "a", kind: "plugin", slug: "shop", score: 5, ...range, ...known },
    { advisory_id: "b", kind: "theme", slug: "leaf", score: 9, ...range, ...known, patched: null },
    { advisory_id: "c", kind: "plugin", slug: "foreign", score: 10, ...range, ...known },
  ]);
  await activateReading(database, { reading, mark: null, records: 3, skipped: 7 });
  await markOffersVulnerable(database);
  await markVulnerable(database, null);
});

async function list(query = "", key = test.current.company.api_key) {
  const path = `/v2/company/${test.current.company.company_id}/vulnerabilities${query}`;
  return (await test.current.call("GET", path, { key })).body.company.vulnerabilities;
}

describe("GET /company/{id}/vulnerabilities", () => {
  it("lists vulnerabilities in the company's environments, worst first, and the state of the feed", async () => {
    const { total, items, feed } = await list();
    expect(total).toBe(2);
    expect(items.map(({ id }: { id: string }) => id)).toEqual(["b", "a"]);
    expect(items[1]).toEqual({
      id: "a",
      title: "Bad",
      cve: "CVE-1",
      score: 5,
      reference: null,
      type: "plugin",
      name: "shop",
      affected: "any – any",
      patched_version: "2.0",
      environments: [
        {
          id: own.id,
          site_id: own.siteId,
          site_display_name: expect.any(String),
          display_name: expect.any(String),
          version: "1.0",
          update_version: null,
        },
      ],
    });
    expect(feed).toEqual({ read_at: expect.stringMatching(/Z$/), records: 3, skipped: 7, problem: null });
  });

  it("says when the vulnerabilities were checked", async () => {
    const { checks } = await list();
    expect(checks.vulnerabilities).toEqual({ checked_at: expect.stringMatching(/Z$/), problem: null });
    const { company, call } = without.current;
    const { body } = await call("GET", `/v2/company/${company.company_id}/vulnerabilities`);
    expect(body.company.vulnerabilities).toMatchObject({
      items: [],
      feed: null,
      checks: {
        vulnerabilities: { checked_at: null, problem: expect.stringContaining("there is no vulnerability feed") },
      },
    });
  });

  it("has paging, and only sites in the key's scope", async () => {
    expect(await list("?limit=1&offset=1")).toMatchObject({ total: 2, items: [{ id: "a" }] });
    const { token } = await test.current.addKey({ scopes: [`site:${other.siteId}`] });
    expect(await list("", token)).toMatchObject({ total: 1, items: [{ id: "b", patched_version: null }] });
  });

  it("marks them in the lists of plugins and themes too", async () => {
    const { call, company } = test.current;
    const { body } = await call("GET", `/v2/company/${company.company_id}/wp-themes?column=vulnerable`);
    expect(body.company.themes).toMatchObject({
      total: 1,
      items: [
        { name: "leaf", is_latest_version_vulnerable: true, environments: [{ is_theme_version_vulnerable: true }] },
      ],
    });
  });
});
