import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { siteFields, useTestServer } from "../testing/server.ts";

const test = useTestServer();
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe("POST /sites", () => {
  it("answers 202 with an operation that can be followed at once", async () => {
    const { call, company } = test.current;
    const answer = await call("POST", "/v2/sites", { body: siteFields(company.company_id, { display_name: "First" }) });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      operation_id: expect.stringMatching(/^sites:add-[0-9a-f-]{36}$/),
      message: "Adding site in progress",
      status: 202,
    });
    expect(answer.headers.location).toBe(`/v2/operations/${answer.body.operation_id}`);
    const operation = await call("GET", `/v2/operations/${answer.body.operation_id}`);
    expect(operation.status).toBe(202);
    expect(operation.body).toMatchObject({
      status: 202,
      message: "Operation in progress",
      data: { idSite: expect.stringMatching(uuid), idEnv: expect.stringMatching(uuid), kind: "addSite" },
    });
    expect(operation.headers["retry-after"]).toBe("1");
  });

  it("makes the site visible only after its operation has succeeded", async () => {
    const { call, company, succeed } = test.current;
    const fields = siteFields(company.company_id, { display_name: "Visible later" });
    const { body } = await call("POST", "/v2/sites", { body: fields });
    const id = (await call("GET", `/v2/operations/${body.operation_id}`)).body.data.idSite;
    expect((await call("GET", `/v2/sites/${id}`)).status).toBe(404);
    expect((await call("GET", "/v2/sites?search=visible+later")).body.company.sites).toEqual([]);
    await succeed(body.operation_id);
    const site = (await call("GET", `/v2/sites/${id}`)).body.site;
    const domain = { id: expect.stringMatching(uuid), name: "visible-later.localhost", type: "live", site_id: id };
    expect(site).toEqual({
      id,
      name: "visible-later",
      display_name: "Visible later",
      region: "this-machine",
      company_id: company.company_id,
      status: "live",
      siteLabels: [],
      environments: [
        {
          id: expect.stringMatching(uuid),
          name: "live",
          display_name: "Live",
          is_premium: false,
          is_blocked: false,
          domains: [domain],
          primaryDomain: domain,
        },
      ],
    });
  });

  it("gives the operation its input, with the password sealed", async () => {
    const { call, company, database } = test.current;
    const fields = siteFields(company.company_id, { admin_password: 'se\'cret "$1" \\ 🔑', is_multisite: true });
    const { body } = await call("POST", "/v2/sites", { body: fields });
    const row = await database
      .selectFrom("operations")
      .selectAll()
      .where("id", "=", body.operation_id)
      .executeTakeFirstOrThrow();
    expect(row.input).toMatchObject({
      siteId: row.site_id,
      environment: { id: row.environment_id, number: expect.any(Number) },
      phpVersion: "8.3",
      address: expect.stringMatching(/^http:\/\/site-[0-9a-f]{8}\.localhost:8081$/),
      content: {
        title: fields.site_title,
        adminUser: "ada",
        adminEmail: "ada@example.com",
        locale: "en_US",
        multisite: "subdirectory",
      },
    });
    expect(JSON.stringify(row)).not.toContain("se'cret");
    expect(row.secret).not.toBeNull();
  });

  it("gives a subdomain multisite a wildcard domain", async () => {
    const { call, company, database } = test.current;
    const fields = siteFields(company.company_id, { display_name: "Network", is_subdomain_multisite: true });
    expect((await call("POST", "/v2/sites", { body: fields })).status).toBe(202);
    const domain = await database.selectFrom("domains").selectAll().where("name", "=", "network.localhost").execute();
    expect(domain).toMatchObject([{ is_wildcard: true, is_primary: true }]);
  });

  it("needs no install_mode", async () => {
    const { call, company } = test.current;
    const fields = siteFields(company.company_id, { install_mode: undefined });
    expect((await call("POST", "/v2/sites", { body: fields })).status).toBe(202);
  });

  it("passes the requested plugins to the operation", async () => {
    const { call, company, database } = test.current;
    const flags = { woocommerce: true, wordpressseo: true, wordpress_plugin_edd: true };
    const { status, body } = await call("POST", "/v2/sites", { body: siteFields(company.company_id, flags) });
    expect(status).toBe(202);
    const query = database.selectFrom("operations").select("input").where("id", "=", body.operation_id);
    const { input } = await query.executeTakeFirstOrThrow();
    expect(input).toMatchObject({
      content: {
        plugins: [
          { slug: "woocommerce", file: "woocommerce/woocommerce.php" },
          { slug: "wordpress-seo", file: "wordpress-seo/wp-seo.php" },
          { slug: "easy-digital-downloads", file: "easy-digital-downloads/easy-digital-downloads.php" },
        ],
      },
    });
  });

  it("accepts plugin flags that are false", async () => {
    const { call, company } = test.current;
    const flags = { woocommerce: false, wordpressseo: false, wordpress_plugin_edd: false, is_multisite: false };
    expect((await call("POST", "/v2/sites", { body: siteFields(company.company_id, flags) })).status).toBe(202);
  });
});

describe("names of sites", () => {
  it("must be unique within the company, ignoring case", async () => {
    const { call, company } = test.current;
    await call("POST", "/v2/sites", { body: siteFields(company.company_id, { display_name: "Ünique" }) });
    const again = await call("POST", "/v2/sites", { body: siteFields(company.company_id, { display_name: "üNIQUE" }) });
    expect(again.status).toBe(400);
    expect(again.body).toEqual({
      message: 'A site with the name "üNIQUE" already exists.',
      status: 400,
      data: { code: "site_name_taken", display_name: "üNIQUE" },
    });
  });

  it("may be used by another company, with another short name", async () => {
    const { addSite, call, otherCompany } = test.current;
    await addSite({ display_name: "Shared" });
    const id = await addSite({ display_name: "Shared" }, otherCompany.api_key);
    const { body } = await call("GET", `/v2/sites/${id}`, { key: otherCompany.api_key });
    expect(body.site.name).toBe("shared-2");
  });

  it("are given to one of ten simultaneous requests", async () => {
    const { call, company } = test.current;
    const fields = siteFields(company.company_id, { display_name: "Race" });
    const answers = await Promise.all(Array.from({ length: 10 }, () => call("POST", "/v2/sites", { body: fields })));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, ...Array(9).fill(400)]);
    expect(answers.filter(({ body }) => body.data?.code === "site_name_taken")).toHaveLength(9);
  });

  it("get different slugs, also in simultaneous requests", async () => {
    const { call, company, database } = test.current;
    const names = ["Slug!", "slug?", "SLUG.", "slug…", "(slug)", "slug_"];
    const answers = await Promise.all(
      names.map((name) => call("POST", "/v2/sites", { body: siteFields(company.company_id, { display_name: name }) })),
    );
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 202));
    const rows = await database.selectFrom("sites").select("name").where("display_name", "in", names).execute();
    expect(rows.map(({ name }) => name).sort()).toEqual(["slug", "slug-2", "slug-3", "slug-4", "slug-5", "slug-6"]);
  });

  it("get another slug if the address belongs to another site", async () => {
    const { addSite, call, database } = test.current;
    const id = await addSite({ display_name: "Occupied first" });
    await database.updateTable("domains").set({ name: "occupied.localhost" }).where("site_id", "=", id).execute();
    const other = await addSite({ display_name: "Occupied" });
    expect((await call("GET", `/v2/sites/${other}`)).body.site.name).toBe("occupied-2");
  });
});

describe("requests that can't be carried out", () => {
  it.each([
    ["region", { region: "moon-base1" }, "unknown_region", /moon-base1/],
    ["language", { wp_language: "tlh_KX" }, "unknown_language", /tlh_KX.*de_DE, en_US/],
    ["cloning", { install_mode: "clone" }, "install_mode_clone", /POST \/sites\/clone/],
    [
      "two kinds of site",
      { is_multisite: false, is_subdomain_multisite: true },
      "multisite_contradiction",
      /is_multisite/,
    ],
  ])("are refused with a code and a message: %s", async (_, fields, code, message) => {
    const { call, company } = test.current;
    const answer = await call("POST", "/v2/sites", { body: siteFields(company.company_id, fields) });
    expect(answer.status).toBe(400);
    expect(answer.body.data.code).toBe(code);
    expect(answer.body.message).toMatch(message);
  });
});

describe("GET /sites", () => {
  it("includes environments in the long form, with all nullable fields", async () => {
    const { addSite, call, database } = test.current;
    const id = await addSite({ display_name: "Long form" });
    const { body, status } = await call("GET", "/v2/sites?search=long%20FORM");
    expect(status).toBe(200);
    const environment = await database
      .selectFrom("environments")
      .selectAll()
      .where("site_id", "=", id)
      .executeTakeFirstOrThrow();
    const domain = {
      id: expect.stringMatching(uuid),
      name: "long-form.localhost",
      type: "live",
      site_id: id,
      is_active: true,
    };
    expect(body.company.sites).toEqual([
      {
        id,
        name: "long-form",
        display_name: "Long form",
        region: "this-machine",
        status: "live",
        siteLabels: [],
        environments: [
          {
            id: environment.id,
            name: "live",
            display_name: "Live",
            is_premium: false,
            is_blocked: false,
            address: "http://long-form.localhost:8081",
            id_edge_cache: null,
            cdn_cache_id: null,
            is_opt_out_from_automatic_php_update: false,
            domains: [domain],
            primaryDomain: domain,
            web_root: `/www/long-form_${environment.number}/public`,
            image_optimization_type: null,
            is_additional_sftp_accounts_enabled: false,
            wordpress_version: null,
            ssh_connection: { ssh_port: "0", ssh_ip: { external_ip: "127.0.0.1" } },
            container_info: { id: environment.container_id, php_engine_version: "php8.3" },
          },
        ],
      },
    ]);
    const { site } = (await call("GET", `/v2/sites/${id}/environments`)).body;
    expect(site.environments).toEqual(body.company.sites[0].environments);
  });

  it("omits environments on request", async () => {
    const { addSite, call } = test.current;
    await addSite({ display_name: "Short form" });
    const { body } = await call("GET", "/v2/sites?search=short+form&include_environments=false");
    expect(Object.keys(body.company.sites[0])).toEqual([
      "id",
      "name",
      "display_name",
      "region",
      "status",
      "siteLabels",
    ]);
  });

  it("has pages, oldest first; parameters may be in a body, and the query takes precedence", async () => {
    const { addSite, call } = test.current;
    for (const name of ["Page a", "Page b", "Page c"]) await addSite({ display_name: name });
    const names = async (path: string, body?: unknown) =>
      (await call("GET", path, { body })).body.company.sites.map((site: { display_name: string }) => site.display_name);
    expect(await names("/v2/sites?search=page&limit=2")).toEqual(["Page a", "Page b"]);
    expect(await names("/v2/sites?search=page&offset=2&limit=5")).toEqual(["Page c"]);
    expect(await names("/v2/sites", { search: "page", limit: 1 })).toEqual(["Page a"]);
    expect(await names("/v2/sites?limit=2&offset=1", { search: "page", limit: 1 })).toEqual(["Page b", "Page c"]);
    expect(await names("/v2/sites?search=page&limit=0")).toEqual([]);
  });

  it("has only sites of the company", async () => {
    const { addSite, call, company, otherCompany } = test.current;
    await addSite({ display_name: "Foreign" }, otherCompany.api_key);
    expect((await call("GET", "/v2/sites?search=foreign")).body.company.sites).toEqual([]);
    expect((await call("GET", `/v2/sites?company=${otherCompany.company_id}`)).status).toBe(404);
    expect((await call("GET", `/v2/sites?company=${randomUUID()}`)).status).toBe(404);
    expect((await call("GET", `/v2/sites?company=${company.company_id.toUpperCase()}`)).status).toBe(200);
  });
});

describe("DELETE /sites/{site_id}", () => {
  it("starts an operation that blocks all environments", async () => {
    const { addSite, call } = test.current;
    const id = await addSite({ display_name: "To be deleted" });
    const answer = await call("DELETE", `/v2/sites/${id}`);
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      operation_id: expect.stringMatching(/^sites:delete-/),
      message: "Deleting site in progress",
      status: 202,
    });
    const { site } = (await call("GET", `/v2/sites/${id}`)).body;
    expect(site.environments[0].is_blocked).toBe(true);
  });

  it("accepts a second deletion, whose operation fails at once", async () => {
    const { addSite, call, company } = test.current;
    const id = await addSite({ display_name: "Deleted twice" });
    await call("DELETE", `/v2/sites/${id}`);
    const second = await call("DELETE", `/v2/sites/${id}`);
    expect(second.status).toBe(202);
    const operation = await call("GET", `/v2/operations/${second.body.operation_id}`);
    const reason = "The environment is blocked by another process. Please try again a bit later.";
    expect(operation.status).toBe(500);
    expect(operation.body).toEqual({
      status: 500,
      message: "Error occurred while processing your request",
      data: expect.objectContaining({
        status: 500,
        message: reason,
        reference_id: expect.stringMatching(uuid),
        idSite: id,
      }),
    });
    const log = await call("GET", `/v2/company/${company.company_id}/activity-logs?site_id=${id}`);
    expect(log.body.company.activity_logs.items[0]).toMatchObject({
      type: "deleteSite",
      is_done: true,
      has_failed: true,
      public_error: reason,
    });
  });

  it("queues it with When-Busy: queue", async () => {
    const { addSite, call } = test.current;
    const id = await addSite({ display_name: "Deleted in turn" });
    await call("DELETE", `/v2/sites/${id}`);
    const second = await call("DELETE", `/v2/sites/${id}`, { headers: { "when-busy": "queue" } });
    expect((await call("GET", `/v2/operations/${second.body.operation_id}`)).status).toBe(202);
    const third = await call("DELETE", `/v2/sites/${id}`, { headers: { "when-busy": "perhaps" } });
    expect(third.body.data.code).toBe("when_busy_malformed");
  });
});

describe("a queue of operations", () => {
  it("is bounded, so that one company can't make the others' wait longer", async () => {
    const { addSite, call } = test.current;
    const id = await addSite({ display_name: "Wanted often" });
    await call("DELETE", `/v2/sites/${id}`);
    const queue = () => call("DELETE", `/v2/sites/${id}`, { headers: { "when-busy": "queue" } });
    for (let waiting = 0; waiting < 100; waiting += 1) expect((await queue()).status).toBe(202);
    const refused = await queue();
    expect(refused.status).toBe(429);
    expect(refused.headers["retry-after"]).toBe("30");
    const keyed = { headers: { "when-busy": "queue", "idempotency-key": "once-there-is-room" } };
    expect((await call("DELETE", `/v2/sites/${id}`, keyed)).status).toBe(429);
    expect((await call("DELETE", `/v2/sites/${id}`, keyed)).headers["idempotency-replayed"]).toBeUndefined();
    const other = await addSite({ display_name: "Wanted by nobody" });
    expect((await call("DELETE", `/v2/sites/${other}`, { headers: { "when-busy": "queue" } })).status).toBe(202);
  });
});

describe("GET /operations/{operation_id}", () => {
  it("answers 200 after success, and answers waiting requests as soon as the operation ends", async () => {
    const { call, company, succeed } = test.current;
    const { body } = await call("POST", "/v2/sites", { body: siteFields(company.company_id) });
    const waiting = call("GET", `/v2/operations/${body.operation_id}?wait=30`);
    await succeed(body.operation_id);
    const operation = await waiting;
    expect(operation.status).toBe(200);
    expect(operation.body).toMatchObject({
      status: 200,
      message: "Successfully finished request",
      data: {
        kind: "addSite",
        step: null,
        finished_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
        result: { address: expect.any(String) },
      },
    });
  });

  it("returns the public reason of a failure", async () => {
    const { call, company, fail } = test.current;
    const { body } = await call("POST", "/v2/sites", { body: siteFields(company.company_id) });
    await fail(body.operation_id, "The disk is full.");
    const operation = await call("GET", `/v2/operations/${body.operation_id}`);
    expect(operation.status).toBe(500);
    expect(operation.body.data).toMatchObject({ status: 500, message: "The disk is full." });
  });

  it("accepts a percent-encoded colon and a trailing slash", async () => {
    const { call, company } = test.current;
    const { body } = await call("POST", "/v2/sites", { body: siteFields(company.company_id) });
    const encoded = body.operation_id.replace(":", "%3A");
    expect((await call("GET", `/v2/operations/${encoded}`)).status).toBe(202);
    expect((await call("GET", `/v2/operations/${encoded}/`)).status).toBe(202);
    expect((await call("GET", `/v2/operations/${encoded.toLowerCase()}`)).status).toBe(202);
  });

  it("answers 404 for unknown operations and for those of other companies", async () => {
    const { call, company, otherCompany } = test.current;
    const { body } = await call("POST", "/v2/sites", { body: siteFields(company.company_id) });
    const foreign = await call("GET", `/v2/operations/${body.operation_id}`, { key: otherCompany.api_key });
    const unknown = await call("GET", `/v2/operations/sites:add-${randomUUID()}`);
    expect(foreign.status).toBe(404);
    expect(foreign.text).toBe(unknown.text);
  });
});
