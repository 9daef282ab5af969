import { endpoints } from "@sitewright/contract/endpoints.ts";
import { describe, expect, it } from "vitest";
import { escapeHtml, homePage } from "./home.ts";
import { useTestServer } from "./testing/server.ts";

const test = useTestServer();

describe("the page at /", () => {
  it("needs no key, shows the API's address and lists every endpoint", async () => {
    const { call } = test.current;
    const answer = await call("GET", "/", { key: null, headers: { host: "127.0.0.1:8080" } });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(answer.text).toContain("http://127.0.0.1:8080/v2");
    for (const { path, summary } of Object.values(endpoints)) {
      expect(answer.text).toContain(escapeHtml(path));
      expect(answer.text).toContain(escapeHtml(summary));
    }
  });

  it("loads no resources, runs no scripts and can't be framed", async () => {
    const { call } = test.current;
    const { text, headers } = await call("GET", "/", { key: null });
    expect(text).not.toMatch(/<script|<img|<link|<iframe|url\(|@import|src=/);
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["referrer-policy"]).toBe("no-referrer");
    expect(headers["x-ratelimit-remaining"]).toMatch(/^\d+$/);
  });

  it("escapes the requested address", () => {
    const page = homePage(`http://"><script>alert(1)</script>`);
    expect(page).not.toContain("<script>");
    expect(escapeHtml(`<a href='x'>&"`)).toBe("&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
  });

  it("answers other methods with 405 and Allow", async () => {
    const answer = await test.current.call("POST", "/", { key: null });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe("GET, HEAD");
  });
});

describe("/v2/openapi.json", () => {
  it("is the contract's document, without a key", async () => {
    const answer = await test.current.call("GET", "/v2/openapi.json", { key: null });
    expect(answer.status).toBe(200);
    expect(answer.body.openapi).toBe("3.1.0");
    const { body } = await test.current.call("GET", "/v2/openapi.json", { headers: { host: "panel.example:8080" } });
    expect(body.servers).toEqual([{ url: "http://panel.example:8080/v2", description: "This installation" }]);
    expect(Object.keys(answer.body.paths)).toEqual(
      expect.arrayContaining(Object.values(endpoints).map(({ path }) => path)),
    );
  });
});
