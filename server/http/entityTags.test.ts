import { describe, expect, it } from "vitest";
import { entityTagOfParts } from "./entityTags.ts";
import { useTestServer } from "./testing/server.ts";

const test = useTestServer();
const get = (path: string, condition?: string) =>
  test.current.call("GET", path, { headers: condition === undefined ? {} : { "if-none-match": condition } });

describe("the ETag of a read", () => {
  it("gives a 304 without a body as long as nothing has changed", async () => {
    const { siteId, id } = await test.current.addSiteWithEnvironment();
    const path = `/v2/sites/${siteId}`;
    const first = await get(path);
    const tag = String(first.headers.etag);
    expect(tag).toMatch(/^"[\w-]{27}"$/);
    expect(first.headers["cache-control"]).toBe("private, no-cache");
    for (const condition of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      const { status, text, headers } = await get(path, condition);
      expect({ status, text }).toEqual({ status: 304, text: "" });
      expect(headers.etag).toBe(tag);
      expect(headers["content-type"]).toBeUndefined();
      expect(Number(headers["x-ratelimit-remaining"])).toBeGreaterThan(0);
    }
    await test.current.database
      .updateTable("environments")
      .set({ display_name: "Renamed" })
      .where("id", "=", id)
      .execute();
    const changed = await get(path, tag);
    expect(changed.status).toBe(200);
    expect(changed.text).toContain("Renamed");
    expect(changed.headers.etag).not.toBe(tag);
  });

  it("is that of one endpoint: others show more of the same record", async () => {
    const { siteId } = await test.current.addSiteWithEnvironment();
    const site = await get(`/v2/sites/${siteId}`);
    const environments = await get(`/v2/sites/${siteId}/environments`);
    expect(environments.body.site.environments[0].web_root).toContain("/www/");
    expect((await get(`/v2/sites/${siteId}`)).text).toBe(site.text);
    expect((await get(`/v2/sites/${siteId}/environments`, String(site.headers.etag))).status).toBe(200);
  });

  it("is not sent with errors, or with the result of a change", async () => {
    const missing = await get("/v2/sites/54fb80af-576c-4fdc-ba4f-b596c83f15a1", "*");
    expect(missing.status).toBe(404);
    expect(missing.headers.etag).toBeUndefined();
    const { company } = test.current;
    const created = await test.current.call("POST", `/v2/company/${company.company_id}/api-keys`, {
      body: { name: "One" },
    });
    expect(created.headers.etag).toBeUndefined();
  });

  it("reveals nothing to another company", async () => {
    const siteId = await test.current.addSite();
    const { headers } = await get(`/v2/sites/${siteId}`);
    const { status } = await test.current.call("GET", `/v2/sites/${siteId}`, {
      key: test.current.otherCompany.api_key,
      headers: { "if-none-match": String(headers.etag) },
    });
    expect(status).toBe(404);
  });

  it("of a body in parts depends on their content only", () => {
    const tagOf = (...parts: string[]) => entityTagOfParts(parts.map((part) => Buffer.from(part)));
    expect(tagOf("[", "1]")).toBe(tagOf("[", "1]"));
    expect(new Set([tagOf("[", "1]"), tagOf("[1", "]"), tagOf("[", "2]"), tagOf("1]", "["), tagOf()]).size).toBe(5);
  });
});
