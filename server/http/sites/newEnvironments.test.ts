import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { useTestServer, wordpressFields } from "../testing/server.ts";

const test = useTestServer();

const fieldsOf = (displayName: string, more: Readonly<Record<string, unknown>> = {}) => ({
  display_name: displayName,
  is_premium: false,
  ...wordpressFields,
  ...more,
});

async function environmentsOf(siteId: string) {
  return (await test.current.call("GET", `/v2/sites/${siteId}/environments`)).body.site.environments;
}

async function inputOf(operationId: string) {
  const { database } = test.current;
  return database.selectFrom("operations").selectAll().where("id", "=", operationId).executeTakeFirstOrThrow();
}

describe("POST /sites/{site_id}/environments", () => {
  it("derives name and address from the display name", async () => {
    const { addSite, call, succeed } = test.current;
    const siteId = await addSite({ display_name: "Garden" });
    const answer = await call("POST", `/v2/sites/${siteId}/environments`, {
      body: fieldsOf("Big Trial", { is_premium: true }),
    });
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({
      operation_id: expect.stringMatching(/^environment:add-/),
      message: "Adding environment in progress",
    });
    expect(await environmentsOf(siteId)).toHaveLength(1);
    await succeed(answer.body.operation_id);
    expect((await environmentsOf(siteId))[1]).toMatchObject({
      name: "big-trial",
      display_name: "Big Trial",
      is_premium: true,
      container_info: { php_engine_version: "php8.3" },
      primaryDomain: { name: "big-trial-garden.localhost", site_id: siteId },
    });
  });

  it("gives the operation its input, with the password only as a sealed digest", async () => {
    const { addSite, call } = test.current;
    const siteId = await addSite({ display_name: "Sealed" });
    const body = fieldsOf("Trial", { admin_password: "pass$word'", is_subdomain_multisite: true });
    const { operation_id: id } = (await call("POST", `/v2/sites/${siteId}/environments`, { body })).body;
    const row = await inputOf(id);
    expect(row.input).toMatchObject({
      siteId,
      isNewSite: false,
      address: "http://trial-sealed.localhost:8081",
      content: { kind: "wordpress", title: "Ada's notes", adminUser: "ada", multisite: "subdomain" },
    });
    expect(JSON.stringify(row)).not.toContain("pass$word");
    expect(row.secret).not.toBeNull();
  });

  it.each(Object.keys(fieldsOf("x")))("needs %s", async (field) => {
    const { addSite, call } = test.current;
    const siteId = await addSite();
    const answer = await call("POST", `/v2/sites/${siteId}/environments`, {
      body: fieldsOf("x", { [field]: undefined }),
    });
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors).toContainEqual({ path: `/${field}`, message: expect.stringContaining("required") });
  });

  it.each([
    ["Live", "environment_name_taken"],
    ["lIVE", "environment_name_taken"],
    ["live!", "environment_name_reserved"],
  ])("refuses the name %s", async (name, code) => {
    const { addSite, call } = test.current;
    const answer = await call("POST", `/v2/sites/${await addSite()}/environments`, { body: fieldsOf(name) });
    expect(answer.status).toBe(400);
    expect(answer.body.data.code).toBe(code);
  });

  it("refuses a display name in use, and makes slugs unique", async () => {
    const { addSite, call, succeed } = test.current;
    const siteId = await addSite();
    const create = (name: string) => call("POST", `/v2/sites/${siteId}/environments`, { body: fieldsOf(name) });
    await succeed((await create("Staging")).body.operation_id);
    const taken = await create("STAGING");
    expect(taken.body).toMatchObject({
      status: 400,
      message: 'The site already has an environment with the name "STAGING".',
      data: { code: "environment_name_taken" },
    });
    await succeed((await create("Staging!")).body.operation_id);
    expect((await environmentsOf(siteId))[2].name).toBe("staging-2");
  });

  it("takes the next name if the address belongs to another site", async () => {
    const { addSite, call, succeed } = test.current;
    const siteId = await addSite({ display_name: "Shop" });
    await addSite({ display_name: "Trial Shop" });
    const { body } = await call("POST", `/v2/sites/${siteId}/environments`, { body: fieldsOf("Trial") });
    await succeed(body.operation_id);
    expect((await environmentsOf(siteId))[1].primaryDomain.name).toBe("trial-2-shop.localhost");
  });

  it("gives a name to one of two simultaneous requests", async () => {
    const { addSite, call } = test.current;
    const siteId = await addSite();
    const answers = await Promise.all(
      [1, 2].map(() => call("POST", `/v2/sites/${siteId}/environments`, { body: fieldsOf("Twin") })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 400]);
  });

  it("is refused while the site is being deleted or its deletion is queued", async () => {
    const { addEnvironment, addSite, call } = test.current;
    const siteId = await addSite();
    const { id } = await addEnvironment(siteId);
    await call("POST", "/v2/sites/tools/restart-php", { body: { environment_id: id } });
    const deletion = await call("DELETE", `/v2/sites/${siteId}`, { headers: { "when-busy": "queue" } });
    expect((await call("GET", `/v2/operations/${deletion.body.operation_id}`)).status).toBe(202);
    const answer = await call("POST", `/v2/sites/${siteId}/environments`, { body: fieldsOf("Late") });
    expect(answer.body).toMatchObject({ status: 400, data: { code: "site_being_deleted" } });
  });

  it("refuses a language that can't be installed", async () => {
    const { addSite, call } = test.current;
    const path = `/v2/sites/${await addSite()}/environments`;
    expect((await call("POST", path, { body: fieldsOf("x", { wp_language: "xx_YY" }) })).body.data.code).toBe(
      "unknown_language",
    );
    expect((await call("POST", path, { body: fieldsOf("Shop", { woocommerce: true }) })).status).toBe(202);
  });
});

describe("clones", () => {
  it("copy an environment of the same site, which is blocked meanwhile", async () => {
    const { addEnvironment, addSite, call } = test.current;
    const siteId = await addSite({ display_name: "Source" });
    const { liveId } = await addEnvironment(siteId);
    const body = { display_name: "Copy", is_premium: false, source_env_id: liveId };
    const answer = await call("POST", `/v2/sites/${siteId}/environments/clone`, { body });
    expect(answer.body).toMatchObject({
      operation_id: expect.stringMatching(/^environment:clone-/),
      message: "Cloning environment in progress",
    });
    expect((await environmentsOf(siteId))[0].is_blocked).toBe(true);
    expect((await inputOf(answer.body.operation_id)).input).toMatchObject({
      address: "http://copy-source.localhost:8081",
      content: { kind: "clone", source: { id: liveId }, sourceAddress: "http://source.localhost:8081" },
    });
  });

  it("release their names at once if the source is busy", async () => {
    const { addEnvironment, addSite, call } = test.current;
    const siteId = await addSite();
    const { id } = await addEnvironment(siteId);
    await call("POST", "/v2/sites/tools/restart-php", { body: { environment_id: id } });
    const body = { display_name: "Copy", is_premium: false, source_env_id: id };
    const { operation_id: operationId } = (await call("POST", `/v2/sites/${siteId}/environments/clone`, { body })).body;
    const operation = await call("GET", `/v2/operations/${operationId}`);
    expect(operation.body).toMatchObject({
      status: 500,
      data: { message: "The environment is blocked by another process. Please try again a bit later." },
    });
    const rows = await test.current.database
      .selectFrom("environments")
      .select("display_name")
      .where("site_id", "=", siteId)
      .execute();
    expect(rows.map((row) => row.display_name)).not.toContain("Copy");
  });

  it("can't copy another site's environment", async () => {
    const { addSite, addSiteWithEnvironment, call } = test.current;
    const other = await addSiteWithEnvironment();
    const siteId = await addSite();
    for (const source of [other.id, randomUUID()]) {
      const body = { display_name: "Copy", is_premium: false, source_env_id: source };
      const answer = await call("POST", `/v2/sites/${siteId}/environments/clone`, { body });
      expect(answer.status).toBe(400);
      expect(answer.body.data).toEqual({ code: "not_of_this_site", fields: ["source_env_id"] });
    }
  });

  it("of whole sites copy any environment of the company, but not another company's", async () => {
    const { addSiteWithEnvironment, call, company, otherCompany, succeed } = test.current;
    const { id } = await addSiteWithEnvironment();
    const body = { company: company.company_id, display_name: "Second garden", source_env_id: id };
    const { operation_id: operationId } = (await call("POST", "/v2/sites/clone", { body })).body;
    expect(operationId).toMatch(/^site:clone-/);
    await succeed(operationId);
    expect((await call("GET", "/v2/sites?search=second+garden")).body.company.sites).toHaveLength(1);
    const foreign = await addSiteWithEnvironment(otherCompany.api_key);
    const stolen = { ...body, display_name: "Stolen", source_env_id: foreign.id };
    expect((await call("POST", "/v2/sites/clone", { body: stolen })).status).toBe(404);
  });
});

describe("DELETE /sites/environments/{env_id}", () => {
  it("starts the operation, which fails for the live environment", async () => {
    const { addSiteWithEnvironment, call } = test.current;
    const { id, liveId } = await addSiteWithEnvironment();
    for (const [environmentId, isLive] of [
      [id, false],
      [liveId, true],
    ] as const) {
      const answer = await call("DELETE", `/v2/sites/environments/${environmentId}`);
      expect(answer.body.message).toBe("Deleting environment in progress");
      expect((await inputOf(answer.body.operation_id)).input).toMatchObject({
        environment: { id: environmentId },
        isLive,
      });
    }
  });

  it("forbids non-live keys to delete the live environment", async () => {
    const { addKey, addSiteWithEnvironment, call } = test.current;
    const { id, liveId } = await addSiteWithEnvironment();
    const { token } = await addKey({ scopes: ["non-live"] });
    const refused = await call("DELETE", `/v2/sites/environments/${liveId}`, { key: token });
    expect(refused.status).toBe(403);
    expect(refused.body.data).toEqual({ code: "scope_missing", needs: "live" });
    expect((await call("DELETE", `/v2/sites/environments/${id}`, { key: token })).status).toBe(202);
  });
});
