import { describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();

const status = (id: string) => test.current.call("GET", `/v2/sites/edge-caching/status?environment_id=${id}`);

/** Kind and input of the accepted operation. */
async function input(answer: { readonly body: { readonly operation_id: string } }) {
  const { database } = test.current;
  const row = await database
    .selectFrom("operations")
    .select(["kind", "input"])
    .where("id", "=", answer.body.operation_id)
    .executeTakeFirstOrThrow();
  return row;
}

describe("the page cache setting", () => {
  it("is on for live environments and off for others by default", async () => {
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    expect((await status(liveId)).body).toEqual({ environment: { id: liveId, edge_caching: { is_enabled: true } } });
    expect((await status(id)).body).toEqual({ environment: { id, edge_caching: { is_enabled: false } } });
  });

  it("is changed by an operation that knows the old value", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const body = { environment_id: id, enabled: true };
    const answer = await test.current.call("PUT", "/v2/sites/edge-caching/status", { body });
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ message: "Updating Site Edge Cache Status in progress", status: 202 });
    expect(answer.body.operation_id).toMatch(/^edge-cache:update-status-/);
    expect(await input(answer)).toMatchObject({ input: { environmentId: id, isEnabled: true, before: null } });
  });

  it.each([{}, { enabled: "yes" }, { enabled: null }])("can't be changed with %j", async (body) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await test.current.call("PUT", "/v2/sites/edge-caching/status", {
      body: { environment_id: id, ...body },
    });
    expect([answer.status, answer.body.data.errors[0].path]).toEqual([400, "/enabled"]);
  });
});

describe("clearing the page cache", () => {
  it("is an operation", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await test.current.call("POST", "/v2/sites/tools/clear-cache", { body: { environment_id: id } });
    expect(answer).toMatchObject({ status: 202, body: { message: "Clearing site cache in progress", status: 202 } });
    expect(answer.body.operation_id).toMatch(/^cache:clear-/);
    expect(await input(answer)).toMatchObject({ kind: "clearCache", input: { environmentId: id, url: null } });
  });

  const clear = async (id: string, more: object) =>
    test.current.call("POST", "/v2/sites/edge-caching/clear", { body: { environment_id: id, ...more } });

  it("works while another operation holds the environment", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    await test.current.call("POST", "/v2/sites/tools/restart-php", { body: { environment_id: id } });
    expect((await clear(id, {})).status).toBe(202);
  });

  it.each([
    [{}, { url: null, isSubtree: false }],
    [{ url: "/news/" }, { url: "/news/", isSubtree: false }],
    [
      { url: "/news/", clear_subdirectories: true },
      { url: "/news/", isSubtree: true },
    ],
    [{ url: "/?p=5#top" }, { url: "/?p=5", isSubtree: false }],
    [{ url: "/café/../x" }, { url: "/x", isSubtree: false }],
  ])("accepts %j", async (more, expected) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await clear(id, more);
    expect(answer).toMatchObject({ status: 202, body: { message: "Clearing site edge cache in progress" } });
    expect(answer.body.operation_id).toMatch(/^edgeCache:clear-/);
    expect((await input(answer)).input).toEqual({ environmentId: id, ...expected });
  });

  it("accepts URLs on the environment's domains, in any case and with any port", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const { body } = await test.current.call("GET", `/v2/sites/environments/${id}/domains`);
    const [{ name }] = body.environment.site_domains;
    const answer = await clear(id, { url: `https://${name.toUpperCase()}:8443/shop/?paged=2` });
    expect((await input(answer)).input).toMatchObject({ url: "/shop/?paged=2" });
  });

  it.each([
    ["https://elsewhere.example/", '"elsewhere.example" is not a domain of the environment.'],
    ["news/", '"news/" is not a URL. Send one with http:// or https://, or a path that begins with a slash.'],
    ["javascript:alert(1)", "is not a URL"],
    ["//elsewhere.example/x", '"elsewhere.example" is not a domain of the environment.'],
    ["http://", "is not a URL"],
  ])("refuses %s with a message", async (url, message) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await clear(id, { url });
    expect(answer).toMatchObject({ status: 400, body: { data: { code: "not_an_address_of_the_site" } } });
    expect(answer.body.message).toContain(message);
  });

  it("refuses an empty or too long URL", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    for (const url of ["", `/${"x".repeat(2_000)}`]) expect((await clear(id, { url })).status).toBe(400);
  });
});
