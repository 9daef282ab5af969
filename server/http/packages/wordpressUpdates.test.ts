import { SourceFailure } from "@sitewright/server/packages/request.ts";
import { describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const url = new URL("https://packages.example/zip");
let isSourceDown = false;

const test = useTestServer({
  packageSource: {
    url: new URL("https://packages.example/"),
    newest: async () => new Map(),
    find: async () => null,
    cores: async () => {
      if (isSourceDown) throw new SourceFailure("It is down.");
      return ["7.1.1", "6.9", "7.10", "7.2", "7.2"].map((version) => ({ version, url }));
    },
  },
});
const without = useTestServer({ packageSource: null });

async function environment(version: string | null = "7.1.1", server = test.current): Promise<string> {
  const { id } = await server.addSiteWithEnvironment();
  const query = server.database.updateTable("environments").set({ wordpress_version: version });
  await query.where("id", "=", id).execute();
  return id;
}

const pathOf = (id: string) => `/v2/sites/environments/${id}/wordpress`;
const update = (id: string, update_version: unknown, server = test.current) =>
  server.call("PUT", pathOf(id), { body: { update_version } });

async function whileSourceIsDown<T>(work: () => Promise<T>): Promise<T> {
  isSourceDown = true;
  try {
    return await work();
  } finally {
    isSourceDown = false;
  }
}

describe("GET /sites/environments/{env_id}/wordpress", () => {
  const versions = async (id: string) => (await test.current.call("GET", pathOf(id))).body.environment;

  it("returns the installed version and the available updates, newest first", async () => {
    const id = await environment();
    expect(await versions(id)).toEqual({
      id,
      wordpress_version: "7.1.1",
      update_versions: ["7.10", "7.2"],
      problem: null,
    });
  });

  it("lists no updates without WordPress, without a package source, or if the source does not answer", async () => {
    const [plain, id] = [await environment(null), await environment()];
    expect(await versions(plain)).toEqual({ id: plain, wordpress_version: null, update_versions: [], problem: null });
    const problem = "The package source at packages.example could not be reached. Try again later.";
    expect(await whileSourceIsDown(() => versions(id))).toMatchObject({ update_versions: [], problem });
    const other = await environment("7.1.1", without.current);
    const { body } = await without.current.call("GET", pathOf(other));
    expect(body.environment).toMatchObject({
      update_versions: [],
      problem: expect.stringContaining("no package source"),
    });
  });
});

describe("PUT /sites/environments/{env_id}/wordpress", () => {
  it("starts an operation with the version and the pages to test", async () => {
    const id = await environment();
    const checks = `/v2/sites/environments/${id}/update-checks`;
    await test.current.call("PUT", checks, { body: { update_checks: ["/shop/"] } });
    const { status, body } = await update(id, "7.2");
    expect([status, body.message]).toEqual([202, "Updating WordPress in progress"]);
    expect(body.operation_id).toMatch(/^wp-core:update-/);
    const query = test.current.database.selectFrom("operations").select(["kind", "input"]);
    expect(await query.where("id", "=", body.operation_id).executeTakeFirstOrThrow()).toMatchObject({
      kind: "updateWordPress",
      input: { from: "7.1.1", to: "7.2", target: { id }, checks: ["/shop/"] },
    });
  });

  it("is accepted while the source does not answer; the operation asks again", async () => {
    const id = await environment();
    expect((await whileSourceIsDown(() => update(id, "8.0"))).status).toBe(202);
  });

  it.each([
    ["the installed version", "7.1.1", "version_not_newer"],
    ["a lower version", "6.9", "version_not_newer"],
    ["a version that is not offered", "7.3", "version_not_offered"],
  ])("refuses %s", async (_, version, code) => {
    const answer = await update(await environment(), version);
    expect([answer.status, answer.body.data.code]).toEqual([400, code]);
  });

  it("is refused without WordPress and without a package source", async () => {
    expect((await update(await environment(null), "7.2")).body.data.code).toBe("no_wordpress");
    const id = await environment("7.1.1", without.current);
    expect((await update(id, "7.2", without.current)).body.data.code).toBe("no_package_source");
  });

  it.each([undefined, "", 7, null])("refuses %j", async (version) => {
    expect((await update(await environment(), version)).status).toBe(400);
  });
});
