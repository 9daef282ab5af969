import { describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();

const modify = (body: Readonly<Record<string, unknown>>) =>
  test.current.call("PUT", "/v2/sites/tools/modify-php-version", { body });

async function inputOf(operationId: string) {
  const { database } = test.current;
  const row = database.selectFrom("operations").select("input").where("id", "=", operationId);
  return (await row.executeTakeFirstOrThrow()).input;
}

describe("PUT /sites/tools/modify-php-version", () => {
  it.each(["8.4", "php8.4"])("accepts %s", async (version) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await modify({ environment_id: id, php_version: version });
    expect(answer.status).toBe(202);
    expect(answer.body.message).toBe("Modifying PHP version in progress");
    expect(await inputOf(answer.body.operation_id)).toMatchObject({ to: "8.4", isOptOut: null });
  });

  it("accepts an opt-out from automatic PHP updates", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await modify({ environment_id: id, php_version: "8.2", is_opt_out_from_automatic_php_update: true });
    expect(await inputOf(answer.body.operation_id)).toMatchObject({ to: "8.2", isOptOut: true });
  });

  it("refuses a version past its end of life without the opt-out", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await modify({ environment_id: id, php_version: "8.2" });
    expect(answer.body).toMatchObject({ status: 400, data: { code: "php_version_ended", php_version: "8.2" } });
    expect(answer.body.message).toContain("is_opt_out_from_automatic_php_update");
  });

  it("accepts such a version after an earlier opt-out", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    await test.current.database
      .updateTable("environments")
      .set({ is_opt_out_from_automatic_php_update: true })
      .where("id", "=", id)
      .execute();
    expect((await modify({ environment_id: id, php_version: "8.2" })).status).toBe(202);
  });

  it("refuses an unknown version and lists the available ones", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await modify({ environment_id: id, php_version: "5.6" });
    expect(answer.body).toEqual({
      message: "PHP 5.6 is not available. Available versions: 8.2, 8.3, 8.4.",
      status: 400,
      data: { code: "unknown_php_version", php_version: "5.6", offered: ["8.2", "8.3", "8.4"] },
    });
  });

  it.each(["8", "latest", "", "8.3.1", "8.3\n", 8.3, null])("refuses %j as a version", async (version) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await modify({ environment_id: id, php_version: version });
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors[0].path).toBe("/php_version");
  });

  it("forbids non-live keys to change live environments", async () => {
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    const { token: key } = await test.current.addKey({ scopes: ["write", "non-live"] });
    const statuses = [];
    for (const environmentId of [liveId, id]) {
      const body = { environment_id: environmentId, php_version: "8.4" };
      statuses.push((await test.current.call("PUT", "/v2/sites/tools/modify-php-version", { body, key })).status);
    }
    expect(statuses).toEqual([403, 202]);
  });
});

describe("POST /sites/tools/restart-php", () => {
  it("starts an operation with a new run number", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await test.current.call("POST", "/v2/sites/tools/restart-php", { body: { environment_id: id } });
    expect(answer.body).toMatchObject({
      operation_id: expect.stringMatching(/^php:restart-/),
      message: "Restarting PHP in progress",
    });
    expect(await inputOf(answer.body.operation_id)).toEqual({ environmentId: id, run: expect.any(Number) });
  });
});
