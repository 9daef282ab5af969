import { describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const path = "/v2/sites/tools/xml-rpc";
let published = 0;
const test = useTestServer({
  publishRoutes: async () => {
    published += 1;
  },
});

const put = (environmentId: string, isEnabled: unknown) =>
  test.current.call("PUT", path, { body: { environment_id: environmentId, is_enabled: isEnabled } });
const get = async (environmentId: string) =>
  (await test.current.call("GET", `${path}?environment_id=${environmentId}`)).body;

describe("XML-RPC", () => {
  it("is off by default", async () => {
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    expect(await get(id)).toEqual({ environment: { id, is_enabled: false } });
    expect(await get(liveId)).toEqual({ environment: { id: liveId, is_enabled: false } });
  });

  it("is turned on and off for one environment, and published before the answer", async () => {
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    for (const isEnabled of [true, false]) {
      const before = published;
      expect(await put(id, isEnabled)).toMatchObject({ status: 200, body: { result: null } });
      expect(published).toBe(before + 1);
      expect((await get(id)).environment.is_enabled).toBe(isEnabled);
      expect((await get(liveId)).environment.is_enabled).toBe(false);
    }
  });

  it.each([undefined, null, "true", 1, [true]])("can't be set to %j", async (isEnabled) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await put(id, isEnabled);
    expect([answer.status, answer.body.data.errors[0].path]).toEqual([400, "/is_enabled"]);
    expect((await get(id)).environment.is_enabled).toBe(false);
  });

  it("is recorded in the activity log", async () => {
    const { addEnvironment, addSite, call, company } = test.current;
    const siteId = await addSite({ display_name: "Blog" });
    const { id } = await addEnvironment(siteId);
    await put(id, true);
    const log = await call("GET", `/v2/company/${company.company_id}/activity-logs?site_id=${siteId}&limit=1`);
    expect(log.body.company.activity_logs.items[0]).toMatchObject({
      type: "updateXmlRpc",
      is_done: true,
      descriptions: [expect.stringMatching(/^Set XML-RPC of “Staging .*” of “Blog” to on$/)],
    });
  });

  it("is off in clones", async () => {
    const { addEnvironment, addSite, call, database, succeed } = test.current;
    const siteId = await addSite();
    const { id } = await addEnvironment(siteId);
    await put(id, true);
    const body = { display_name: "Copy", is_premium: false, source_env_id: id };
    await succeed((await call("POST", `/v2/sites/${siteId}/environments/clone`, { body })).body.operation_id);
    const row = database.selectFrom("environments").select(["id"]).where("display_name", "=", "Copy");
    expect((await get((await row.executeTakeFirstOrThrow()).id)).environment.is_enabled).toBe(false);
  });

  it("is kept when a deleted environment is restored", async () => {
    const { addEnvironment, addSite, call, deleteEnvironment, succeed } = test.current;
    const siteId = await addSite();
    const { id } = await addEnvironment(siteId);
    await put(id, true);
    await deleteEnvironment(id);
    const restored = await call("POST", `/v2/sites/${siteId}/deleted-environments/${id}/restore`, { body: {} });
    await succeed(restored.body.operation_id);
    expect((await get(id)).environment.is_enabled).toBe(true);
  });
});
