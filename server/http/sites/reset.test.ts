import { passwordDigest } from "@sitewright/runtimes/password.ts";
import { describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const password = "another battery staple";

function reset(siteId: string, body: unknown = { admin_password: password }, key?: string) {
  return test.current.call("POST", `/v2/sites/${siteId}/reset-site`, { body, ...(key && { key }) });
}

function rowOf(operationId: string) {
  return test.current.database
    .selectFrom("operations")
    .selectAll()
    .where("id", "=", operationId)
    .executeTakeFirstOrThrow();
}

describe("POST /sites/{site_id}/reset-site", () => {
  it("starts the reset of the live environment only", async () => {
    const { addEnvironment, addSite, database } = test.current;
    const siteId = await addSite();
    const { id: staging, liveId } = await addEnvironment(siteId);
    const answer = await reset(siteId.toUpperCase());
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      operation_id: expect.stringMatching(/^sites:reset-site-/),
      message: "Reset site in progress",
      status: 202,
    });
    const row = await rowOf(answer.body.operation_id);
    expect(row).toMatchObject({ kind: "resetSite", site_id: siteId, environment_id: liveId });
    expect(row.input).toMatchObject({ environment: { id: liveId }, address: expect.stringContaining("http://site-") });
    const locks = await database.selectFrom("environment_locks").select("environment_id").execute();
    const locked = locks.map(({ environment_id }) => environment_id);
    expect(locked).toContain(liveId);
    expect(locked).not.toContain(staging);
  });

  it("builds in a scratch environment whose number is never used by another", async () => {
    const { addSite, database } = test.current;
    const { body } = await reset(await addSite());
    const { scratch } = JSON.parse(JSON.stringify((await rowOf(body.operation_id)).input));
    await addSite();
    const environments = await database.selectFrom("environments").select(["id", "number"]).execute();
    expect(scratch.number).toBeGreaterThan(0);
    expect(environments.map(({ number }) => number)).not.toContain(scratch.number);
    expect(environments.map(({ id }) => id)).not.toContain(scratch.id);
  });

  it("neither stores nor returns the password", async () => {
    const { addSite, call, company } = test.current;
    const answer = await reset(await addSite());
    const row = JSON.stringify(await rowOf(answer.body.operation_id));
    const operation = await call("GET", `/v2/operations/${answer.body.operation_id}`);
    const log = await call("GET", `/v2/company/${company.company_id}/activity-logs`);
    for (const text of [answer.text, operation.text, log.text, row]) {
      expect(text).not.toContain(password);
      expect(text).not.toContain(passwordDigest(password));
    }
  });

  it("is in the activity log under the site's name", async () => {
    const { addSite, call, company } = test.current;
    const siteId = await addSite({ display_name: "Ada's garden" });
    await reset(siteId);
    const path = `/v2/company/${company.company_id}/activity-logs?site_id=${siteId}&limit=1`;
    const [entry] = (await call("GET", path)).body.company.activity_logs.items;
    expect(entry).toMatchObject({ type: "resetSite", descriptions: ["Reset the site “Ada's garden”"] });
    const [german] = (await call("GET", `${path}&language=de`)).body.company.activity_logs.items;
    expect(german.descriptions).toEqual(["Website „Ada's garden“ zurücksetzen"]);
  });

  it.each([
    [{}, "/admin_password"],
    [{ admin_password: null }, "/admin_password"],
    [{ admin_password: 12_345_678 }, "/admin_password"],
    [{ admin_password: "" }, "/admin_password"],
    [{ admin_password: "x".repeat(256) }, "/admin_password"],
    [{ admin_password: "a\nb" }, "/admin_password"],
    [{ admin_password: "a\0b" }, "/admin_password"],
  ])("refuses %j", async (body, path) => {
    const answer = await reset(await test.current.addSite(), body);
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors.map((error: { path: string }) => error.path)).toContain(path);
  });

  it("needs the permissions to delete and to change live environments", async () => {
    const { addKey, addSite } = test.current;
    const siteId = await addSite();
    for (const [scopes, needs] of [
      [["write"], "delete"],
      [["delete", "non-live"], "live"],
    ] as const) {
      const { token } = await addKey({ scopes });
      expect((await reset(siteId, undefined, token)).body).toMatchObject({ status: 403, data: { needs } });
    }
    const { token } = await addKey({ scopes: ["delete", `site:${siteId}`] });
    expect((await reset(siteId, undefined, token)).status).toBe(202);
  });

  it("answers 202 if the site is busy, and the operation fails", async () => {
    const { addSite, call } = test.current;
    const siteId = await addSite();
    await reset(siteId);
    const { status, body } = await reset(siteId);
    expect(status).toBe(202);
    expect((await call("GET", `/v2/operations/${body.operation_id}`)).status).toBe(500);
  });
});
