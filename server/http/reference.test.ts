import { gunzipSync } from "node:zlib";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { describe, expect, it } from "vitest";
import { escapeHtml, referencePage } from "./reference.ts";
import { useTestServer } from "./testing/server.ts";

const test = useTestServer();

/** The paths of all scripts, styles and icons of a page. */
function resourcesOf(page: string): string[] {
  return [...page.matchAll(/<(?:script|link)\b[^>]*?(?:src|href)="([^"]*)"/g)].map(([, path = ""]) => path);
}

describe("the page at /docs", () => {
  it("needs no key, shows the API's address and lists every endpoint", async () => {
    const { call } = test.current;
    const answer = await call("GET", "/docs", { key: null, headers: { host: "127.0.0.1:8080" } });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(answer.text).toContain("http://127.0.0.1:8080/v2");
    for (const { path, summary } of Object.values(endpoints)) {
      expect(answer.text).toContain(escapeHtml(path));
      expect(answer.text).toContain(escapeHtml(summary));
    }
  });

  it("loads scripts and styles only from this server, by versioned paths, and can't be framed", async () => {
    const { text, headers } = await test.current.call("GET", "/docs", { key: null });
    expect(resourcesOf(text).map((path) => path.replace(/[\da-f]{12}/, "VERSION"))).toEqual([
      "/reference/VERSION/reference.svg",
      "/reference/VERSION/reference.css",
      "/reference/VERSION/openapi-explorer.js",
      "/reference/VERSION/reference.js",
    ]);
    expect(text).not.toMatch(/<script>|<style|<img|<iframe|url\(|@import|\son\w+=/);
    const policy = String(headers["content-security-policy"]).split("; ");
    expect(policy).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "img-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["referrer-policy"]).toBe("no-referrer");
    expect(headers["x-ratelimit-remaining"]).toMatch(/^\d+$/);
  });

  it("lets browsers keep its files for a year, compressed if they accept that", async () => {
    const { call } = test.current;
    const paths = resourcesOf((await call("GET", "/docs", { key: null })).text);
    for (const path of paths) {
      const plain = await call("GET", path, { key: null });
      expect(plain.status).toBe(200);
      expect(plain.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
      expect(plain.headers["content-type"]).toMatch(/^(text\/(javascript|css); charset=utf-8|image\/svg\+xml)$/);
      expect(plain.headers["x-content-type-options"]).toBe("nosniff");
      expect(plain.headers.vary).toBe("accept-encoding");
      const answer = await test.current.server.inject({ url: path, headers: { "accept-encoding": "br, gzip" } });
      expect(answer.headers["content-encoding"]).toBe("gzip");
      expect(gunzipSync(answer.rawPayload).toString()).toBe(plain.text);
    }
  });

  it("has no files of other versions or names", async () => {
    const { call } = test.current;
    const [path = ""] = resourcesOf((await call("GET", "/docs", { key: null })).text);
    for (const wrong of ["/reference/000000000000/reference.svg", path.replace("reference.svg", "reference.ts")]) {
      expect((await call("GET", wrong, { key: null })).status).toBe(404);
    }
  });

  it("escapes the requested address", () => {
    const page = referencePage(`http://"><script>alert(1)</script>`, "/reference/1");
    expect(page).not.toContain("<script>");
    expect(escapeHtml(`<a href='x'>&"`)).toBe("&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
  });

  it("answers other methods with 405 and Allow", async () => {
    const answer = await test.current.call("POST", "/docs", { key: null });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe("GET, HEAD");
  });
});

describe("/tour.md", () => {
  it("is the tour, as text", async () => {
    const answer = await test.current.call("GET", "/tour.md", { key: null });
    expect(answer.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(answer.text).toMatch(/^# A tour with curl\n/);
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
