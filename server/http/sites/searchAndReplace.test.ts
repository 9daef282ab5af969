import { describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();

const path = "/v2/sites/tools/search-and-replace";
const texts = { search: "old", replace: "new" };

async function kindOf(operationId: string) {
  const row = test.current.database.selectFrom("operations").selectAll().where("id", "=", operationId);
  const { kind, input } = await row.executeTakeFirstOrThrow();
  return { kind, input: JSON.stringify(input) };
}

describe("POST /sites/tools/search-and-replace", () => {
  it.each([
    [{}, "previewSearchAndReplace"],
    [{ perform_replacement: false, is_clear_cache: true }, "previewSearchAndReplace"],
    [{ perform_replacement: true }, "searchAndReplace"],
  ])("with %j starts the operation %s", async (more, kind) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const { status, body } = await test.current.call("POST", path, { body: { environment_id: id, ...texts, ...more } });
    expect(status).toBe(202);
    expect(body).toMatchObject({
      operation_id: expect.stringMatching(/^sites:search-and-replace-/),
      message: "Search and replace in progress",
    });
    const found = await kindOf(body.operation_id);
    expect(found.kind).toBe(kind);
    expect(found.input).not.toContain("old");
  });

  it.each([
    [{ search: "" }, "/search"],
    [{ search: "a".repeat(2001) }, "/search"],
    [{ search: "a\0" }, "/search"],
    [{ search: 7 }, "/search"],
    [{ search: undefined }, "/search"],
    [{ replace: "a".repeat(2001) }, "/replace"],
    [{ replace: undefined }, "/replace"],
    [{ perform_replacement: "yes" }, "/perform_replacement"],
  ])("refuses %j", async (more, place) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const { status, body } = await test.current.call("POST", path, { body: { environment_id: id, ...texts, ...more } });
    expect(status).toBe(400);
    expect(body.data.errors[0].path).toBe(place);
  });

  it("refuses equal texts, and accepts an empty replacement", async () => {
    const { id: environment_id } = await test.current.addSiteWithEnvironment();
    const same = await test.current.call("POST", path, { body: { environment_id, search: "a", replace: "a" } });
    expect(same.body).toMatchObject({ status: 400, data: { code: "nothing_to_replace" } });
    const empty = await test.current.call("POST", path, { body: { environment_id, search: "a", replace: "" } });
    expect(empty.status).toBe(202);
  });

  it("allows non-live keys only the preview for the live environment", async () => {
    const { liveId: environment_id } = await test.current.addSiteWithEnvironment();
    const { token: key } = await test.current.addKey({ scopes: ["write", "non-live"] });
    const perform = { environment_id, ...texts, perform_replacement: true };
    expect((await test.current.call("POST", path, { body: perform, key })).status).toBe(403);
    expect((await test.current.call("POST", path, { body: { environment_id, ...texts }, key })).status).toBe(202);
  });
});
