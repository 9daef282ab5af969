import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { putPackages } from "../../testing/packages.ts";
import { peopleOf } from "../testing/people.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const people = peopleOf(test);

/** Three sites, by name: their ids, and those of their live environments. */
let sites: Record<"alpha" | "beta" | "gamma", { readonly id: string; readonly liveId: string }>;

const pathOf = (query: string, company = test.current.company.company_id) =>
  `/v2/company/${company}/site-overviews?${query}`;

async function namesFor(query: string): Promise<readonly string[]> {
  const { status, body } = await test.current.call("GET", pathOf(query));
  expect(status).toBe(200);
  return body.company.site_overviews.items.map((site: { display_name: string }) => site.display_name);
}

async function add(name: string, version: string, php: string) {
  const { addSite, call, database } = test.current;
  const id = await addSite({ display_name: name });
  const liveId: string = (await call("GET", `/v2/sites/${id}`)).body.site.environments[0].id;
  await database
    .updateTable("environments")
    .set({ wordpress_version: version, php_version: php, state: "serving" })
    .where("id", "=", liveId)
    .execute();
  return { id, liveId };
}

beforeAll(async () => {
  const { addBackup, addEnvironment, database } = test.current;
  const [alpha, beta, gamma] = [
    await add("Alpha", "6.9", "8.3"),
    await add("beta", "6.10", "8.4"),
    await add("Gamma", "6.9", "8.4"),
  ];
  sites = { alpha, beta, gamma };
  await addEnvironment(beta.id);
  await putPackages(database, alpha.liveId, [{ name: "shop" }, { name: "forms" }]);
  await putPackages(database, beta.liveId, [{ name: "shop" }]);
  await database
    .updateTable("packages")
    .set({ update_version: "9.0" })
    .where("environment_id", "=", alpha.liveId)
    .execute();
  const [insecure, backup] = [beta.liveId, await addBackup(gamma.liveId)];
  await database.updateTable("packages").set({ is_vulnerable: true }).where("environment_id", "=", insecure).execute();
  await database.updateTable("backups").set({ last_proven_restore: new Date() }).where("id", "=", backup).execute();
});

describe("the overview of sites", () => {
  it("shows versions, updates, vulnerabilities and the last test restore of live environments", async () => {
    const { body } = await test.current.call("GET", pathOf(""));
    const { items, ...rest } = body.company.site_overviews;
    expect(rest).toEqual({ total: 3, wordpress_versions: ["6.9", "6.10"], php_versions: ["8.3", "8.4"] });
    const [alpha, beta, gamma] = items;
    expect(alpha).toEqual({
      id: sites.alpha.id,
      name: "alpha",
      display_name: "Alpha",
      created_at: expect.stringMatching(/Z$/),
      siteLabels: [],
      environment_count: 1,
      live: {
        id: sites.alpha.liveId,
        address: "http://alpha.localhost:8081",
        domain: "alpha.localhost",
        state: "ready",
        wordpress_version: "6.9",
        php_version: "8.3",
        updates: 2,
        vulnerabilities: 0,
        proven_restore_at: null,
        picture_operation_id: null,
      },
    });
    expect(beta).toMatchObject({ environment_count: 2, live: { updates: 0, vulnerabilities: 1 } });
    expect(Date.now() - Date.parse(gamma.live.proven_restore_at)).toBeLessThan(600_000);
  });

  it.each([
    ["search=ET", ["beta"]],
    ["wordpress_version=6.9", ["Alpha", "Gamma"]],
    ["php_version=8.4", ["beta", "Gamma"]],
    ["wordpress_version=6.9&php_version=8.4", ["Gamma"]],
    ["has_updates=true", ["Alpha"]],
    ["has_updates=false", ["beta", "Gamma"]],
    ["is_vulnerable=true", ["beta"]],
    ["is_vulnerable=false", ["Alpha", "Gamma"]],
    ["is_proven=true", ["Gamma"]],
    ["is_proven=false", ["Alpha", "beta"]],
    ["state=ready", ["Alpha", "beta", "Gamma"]],
    ["state=busy", []],
    [`label=${randomUUID()}`, []],
    ["order=created&descending=true", ["Gamma", "beta", "Alpha"]],
    ["order=wordpress", ["Alpha", "Gamma", "beta"]],
    ["order=php&descending=true", ["beta", "Gamma", "Alpha"]],
    ["order=updates&descending=true", ["Alpha", "beta", "Gamma"]],
    ["order=vulnerabilities&descending=true", ["beta", "Alpha", "Gamma"]],
    ["order=proven&descending=true", ["Gamma", "Alpha", "beta"]],
    ["limit=1&offset=1", ["beta"]],
    ["limit=0", []],
    ["search=%25", []],
  ] as const)("answers %s with %j", async (query, names) => {
    expect(await namesFor(query)).toEqual(names);
  });

  it("counts all matches, also those of other pages", async () => {
    const { body } = await test.current.call("GET", pathOf("php_version=8.4&limit=1"));
    expect(body.company.site_overviews.total).toBe(2);
  });

  it.each(["state=gone", "order=color", "limit=-1", "label=x", "has_updates=maybe", `search=${"x".repeat(201)}`])(
    "refuses %s",
    async (query) => {
      expect((await test.current.call("GET", pathOf(query))).status).toBe(400);
    },
  );

  it("shows a site as busy while an operation works on it", async () => {
    const { call, fail } = test.current;
    const body = { environment_id: sites.gamma.liveId };
    const { operation_id: operation } = (await call("POST", "/v2/sites/tools/restart-php", { body })).body;
    expect(await namesFor("state=busy")).toEqual(["Gamma"]);
    await fail(operation, "It failed.");
    expect(await namesFor("state=busy")).toEqual([]);
  });

  it("names the last update that took screenshots", async () => {
    const { call, database } = test.current;
    const body = { plugins: [{ name: "shop" }] };
    const path = `/v2/sites/environments/${sites.alpha.liveId}/plugins/bulk-update`;
    const { operation_id: operation } = (await call("PUT", path, { body })).body;
    const picture = async () =>
      (await call("GET", pathOf("search=alpha"))).body.company.site_overviews.items[0].live.picture_operation_id;
    const end = { state: "succeeded", finished_at: new Date() } as const;
    await database.updateTable("operations").set(end).where("id", "=", operation).execute();
    expect(await picture()).toBeNull();
    const input = JSON.stringify({ pictureThreshold: 5 });
    await database.updateTable("operations").set({ input }).where("id", "=", operation).execute();
    expect(await picture()).toBe(operation);
  });

  it("shows people only the sites that they have, and counts and versions of these", async () => {
    const cookie = await people.signIn(await people.add({ role: "viewer", siteIds: [sites.alpha.id] }));
    const { body } = await people.call(cookie, "GET", pathOf("").slice("/v2".length));
    const { total, wordpress_versions, php_versions, items } = body.company.site_overviews;
    expect({ total, wordpress_versions, php_versions }).toEqual({
      total: 1,
      wordpress_versions: ["6.9"],
      php_versions: ["8.3"],
    });
    expect(items).toHaveLength(1);
  });
});
