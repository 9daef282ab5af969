import { SourceFailure } from "@sitewright/server/packages/request.ts";
import { noteSourceCheck } from "@sitewright/server/store/packages/packageChecks.ts";
import { putPackages, type TestPackage } from "@sitewright/server/testing/packages.ts";
import { describe, expect, it } from "vitest";
import { siteFields, useTestServer } from "../testing/server.ts";

const zip = new URL("https://packages.example/zip");
const offered = ["1.5", "2.0", "2.0-beta1"];

const test = useTestServer({
  packageSource: {
    url: new URL("https://packages.example/"),
    newest: async () => new Map(),
    cores: async () => [],
    find: async (_, slug) => {
      if (slug === "away") throw new SourceFailure("It is away.");
      return slug === "shop"
        ? { slug, newest: "2.0", versions: offered.map((version) => ({ version, url: zip })) }
        : null;
    },
  },
});
const without = useTestServer({ packageSource: null, hasBrowser: false });

async function environment(packages: readonly TestPackage[], server = test.current): Promise<string> {
  const { id } = await server.addSiteWithEnvironment();
  await putPackages(server.database, id, packages);
  return id;
}

const shop = { name: "shop", version: "1.0" };
const update = (id: string, body: unknown, what = "plugins", server = test.current) =>
  server.call("PUT", `/v2/sites/environments/${id}/${what}`, { body });

async function inputOf(operationId: string) {
  const query = test.current.database.selectFrom("operations").select(["kind", "input", "environment_id"]);
  return query.where("id", "=", operationId).executeTakeFirstOrThrow();
}

describe.each([
  ["plugins", "plugin", "updatePlugin", "wp-plugin:update-", "Updating WordPress plugin in progress", "shop/shop.php"],
  ["themes", "theme", "updateTheme", "wp-theme:update-", "Updating WordPress theme in progress", "shop"],
] as const)("PUT /sites/environments/{env_id}/%s", (what, kind, operation, prefix, message, file) => {
  it("starts an operation with the requested update", async () => {
    const id = await environment([{ ...shop, kind }]);
    const { status, body } = await update(id, { name: "shop", update_version: "2.0" }, what);
    expect(status).toBe(202);
    expect(body).toEqual({ operation_id: expect.stringMatching(new RegExp(`^${prefix}`)), message, status: 202 });
    expect(await inputOf(body.operation_id)).toMatchObject({
      kind: operation,
      environment_id: id,
      input: { kind, updates: [{ name: "shop", slug: "shop", file, from: "1.0", to: "2.0" }] },
    });
  });

  it.each([
    ["a package that is not installed", { name: "other", update_version: "2.0" }, "package_not_installed"],
    ["a version that is not offered", { name: "shop", update_version: "3.0" }, "version_not_offered"],
    ["a lower version", { name: "shop", update_version: "0.9" }, "version_not_newer"],
    ["the installed version", { name: "shop", update_version: "1.0" }, "version_not_newer"],
    ["a package with another update source", { name: "own", update_version: "2.0" }, "package_updated_elsewhere"],
  ])("refuses %s", async (_, body, code) => {
    const id = await environment([
      { ...shop, kind },
      { name: "own", kind, is_elsewhere: true },
    ]);
    const answer = await update(id, body, what);
    expect([answer.status, answer.body.data?.code]).toEqual([400, code]);
  });

  it.each([
    {},
    { name: "shop" },
    { update_version: "2.0" },
    { name: "", update_version: "2" },
    { name: 1, update_version: "2" },
  ])("refuses %j", async (body) => {
    expect((await update(await environment([{ ...shop, kind }]), body, what)).status).toBe(400);
  });
});

describe("an update", () => {
  it("to a version that is not offered is refused with the newest available versions", async () => {
    const { body } = await update(await environment([shop]), { name: "shop", update_version: "3.0" });
    expect(body.message).toBe("The package source does not offer version 3.0 of shop: it offers 2.0, 2.0-beta1, 1.5.");
    expect(body.data).toEqual({ code: "version_not_offered", name: "shop", offered: ["2.0", "2.0-beta1", "1.5"] });
  });

  it("of a package that the source does not know is refused", async () => {
    const { body } = await update(await environment([{ name: "odd" }]), { name: "odd", update_version: "3.0" });
    expect(body.message).toMatch(/version 3\.0 of odd: it does not have this package\.$/);
  });

  it("is accepted while the source does not answer; the operation asks again", async () => {
    const id = await environment([{ name: "away" }]);
    expect((await update(id, { name: "away", update_version: "2.0" })).status).toBe(202);
  });

  it("of a single file is refused", async () => {
    const id = await environment([{ name: "hello", file: "hello.php" }]);
    const { body } = await update(id, { name: "hello", update_version: "2.0" });
    expect(body.data.code).toBe("package_single_file");
  });

  it("is refused without a package source", async () => {
    const id = await environment([shop], without.current);
    const { body } = await update(id, { name: "shop", update_version: "2.0" }, "plugins", without.current);
    expect(body.data.code).toBe("no_package_source");
  });

  it("and plugins of a new site are refused without a package source", async () => {
    const { call, company } = without.current;
    const body = siteFields(company.company_id, { woocommerce: true, wordpressseo: true });
    const answer = await call("POST", "/v2/sites", { body });
    expect([answer.status, answer.body.data]).toEqual([
      400,
      { code: "no_package_source", fields: ["woocommerce", "wordpressseo"] },
    ]);
  });

  it("of a live environment is forbidden for non-live keys", async () => {
    const { addKey, addSiteWithEnvironment, call, database } = test.current;
    const { id, liveId } = await addSiteWithEnvironment();
    for (const each of [id, liveId]) await putPackages(database, each, [shop]);
    const { token: key } = await addKey({ scopes: ["non-live"] });
    const body = { name: "shop", update_version: "2.0" };
    expect((await call("PUT", `/v2/sites/environments/${liveId}/plugins`, { body, key })).status).toBe(403);
    expect((await call("PUT", `/v2/sites/environments/${id}/plugins`, { body, key })).status).toBe(202);
  });

  it("is in the activity log with its name and version", async () => {
    const id = await environment([shop]);
    await update(id, { name: "shop", update_version: "2.0" });
    const { call, company } = test.current;
    const { body } = await call("GET", `/v2/company/${company.company_id}/activity-logs?language=de&limit=1`);
    expect(body.company.activity_logs.items[0]).toMatchObject({
      type: "updatePlugin",
      descriptions: [expect.stringMatching(/^Plugin „shop“ in „.*“ von „.*“ auf 2\.0 aktualisieren$/)],
    });
  });
});

describe("a bulk update", () => {
  async function withUpdates(kind: "plugin" | "theme" = "plugin"): Promise<string> {
    const id = await environment(["a", "b", "c"].map((name) => ({ name, kind })));
    const rows = test.current.database.updateTable("packages").set({ update_version: "2.0" });
    await rows.where("environment_id", "=", id).where("name", "<>", "c").execute();
    return id;
  }

  it.each([
    ["plugins", "plugin", "wp-plugins:bulk-update-"],
    ["themes", "theme", "wp-themes:bulk-update-"],
  ] as const)("of %s updates each outdated package once, and answers 200", async (what, kind, prefix) => {
    const id = await withUpdates(kind);
    const named = [{ name: "b" }, { name: "a" }, { name: "b" }, { name: "c" }];
    const { status, body } = await update(id, { [what]: named }, `${what}/bulk-update`);
    expect([status, body.status]).toEqual([200, 202]);
    expect(body.operation_id).toMatch(new RegExp(`^${prefix}`));
    const { input } = await inputOf(body.operation_id);
    expect(input).toMatchObject({
      updates: [
        { name: "a", to: "2.0" },
        { name: "b", to: "2.0" },
      ],
    });
  });

  it("says if updates have not been checked yet, and why", async () => {
    const { database } = test.current;
    const refusalOf = async () =>
      (await update(await withUpdates(), { plugins: [{ name: "c" }] }, "plugins/bulk-update")).body;
    await database.deleteFrom("package_source").execute();
    expect(await refusalOf()).toMatchObject({ status: 400, data: { code: "updates_not_checked", names: ["c"] } });
    await noteSourceCheck(database, "The source is down.");
    expect((await refusalOf()).message).toBe("Updates have not been checked yet. The source is down.");
    await noteSourceCheck(database, null);
    expect((await refusalOf()).data.code).toBe("nothing_to_update");
  });

  it.each([
    ["without available updates", [{ name: "c" }], "nothing_to_update"],
    ["of a package that is not installed", [{ name: "a" }, { name: "x" }], "package_not_installed"],
  ])("%s is refused", async (_, plugins, code) => {
    await noteSourceCheck(test.current.database, null);
    const { status, body } = await update(await withUpdates(), { plugins }, "plugins/bulk-update");
    expect([status, body.data.code]).toEqual([400, code]);
  });

  it.each([{}, { plugins: [] }, { plugins: ["a"] }, { themes: [{ name: "a" }] }])(
    "with %j is refused",
    async (body) => {
      expect((await update(await withUpdates(), body, "plugins/bulk-update")).status).toBe(400);
    },
  );
});

describe("the pages that an update is tested with", () => {
  const path = (id: string) => `/v2/sites/environments/${id}/update-checks`;

  it("are stored without duplicates and passed to the next update", async () => {
    const { call } = test.current;
    const id = await environment([shop]);
    expect((await call("GET", path(id))).body).toEqual({
      environment: { id, update_checks: [], picture_threshold: null },
    });
    const body = { update_checks: ["/checkout/", "/?s=%C3%BC", "/checkout/"] };
    const kept = { environment: { id, update_checks: ["/checkout/", "/?s=%C3%BC"], picture_threshold: null } };
    expect(await call("PUT", path(id), { body })).toMatchObject({ status: 200, body: kept });
    expect((await call("GET", path(id))).body).toEqual(kept);
    const started = await update(id, { name: "shop", update_version: "2.0" });
    const { input } = await inputOf(started.body.operation_id);
    expect(input).toMatchObject({ checks: ["/checkout/", "/?s=%C3%BC"] });
  });

  it("have a screenshot threshold, which is passed to updates and refused without a browser", async () => {
    const id = await environment([shop]);
    const { call } = test.current;
    const body = { update_checks: ["/checkout/"], picture_threshold: 20 };
    expect((await call("PUT", path(id), { body })).body).toEqual({ environment: { id, ...body } });
    expect((await call("GET", path(id))).body).toEqual({ environment: { id, ...body } });
    const { operation_id } = (await update(id, { name: "shop", update_version: "2.0" })).body;
    expect((await inputOf(operation_id)).input).toMatchObject({ checks: ["/checkout/"], pictureThreshold: 20 });
    const other = await environment([shop], without.current);
    const answer = await without.current.call("PUT", path(other), { body });
    expect([answer.status, answer.body.data.code]).toEqual([400, "no_browser"]);
  });

  it.each([
    {},
    { update_checks: "/" },
    { update_checks: ["checkout"] },
    { update_checks: ["https://x.example/"] },
    { update_checks: ["/a b"] },
    { update_checks: Array(21).fill("/") },
    { update_checks: [], picture_threshold: 101 },
    { update_checks: [], picture_threshold: -1 },
    { update_checks: [], picture_threshold: 1.5 },
  ])("can't be set with %j", async (body) => {
    const { call } = test.current;
    const id = await environment([shop]);
    const answer = await call("PUT", path(id), { body });
    expect(answer.status).toBe(400);
    expect((await call("GET", path(id))).body.environment.update_checks).toEqual([]);
  });
});
