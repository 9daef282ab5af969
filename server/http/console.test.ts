import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { builtConsole } from "./testing/console.ts";
import { startTestServer } from "./testing/server.ts";

const asBrowser = { accept: "text/html,*/*;q=0.8" };

describe("the console", () => {
  it("is sent for every address of a page, with a policy, and its files compressed and for a year", async () => {
    await using test = await startTestServer({ console: await builtConsole() });
    const page = await test.call("GET", "/", { key: null });
    expect(page.status).toBe(200);
    expect(page.text).toContain('<div id="root">');
    expect(page.text).not.toMatch(/<script>|<style/);
    expect(page.headers["content-security-policy"]).toMatch(/script-src 'self';.*frame-ancestors 'none'/);
    expect((await test.call("GET", "/sites/new", { key: null, headers: asBrowser })).text).toBe(page.text);
    const [, script = ""] = /src="([^"]+\.js)"/.exec(page.text) ?? [];
    const plain = await test.call("GET", script, { key: null });
    expect(plain.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    const read = async (encoding: string, url = script) =>
      (await test.server.inject({ url, headers: { "accept-encoding": encoding } })).rawPayload;
    expect(brotliDecompressSync(await read("gzip, br")).toString()).toBe(plain.text);
    expect(gunzipSync(await read("gzip")).toString()).toBe(plain.text);
    const scripts = [...page.text.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, url]) => url);
    const lengths = await Promise.all(scripts.map(async (url) => (await read("gzip", url)).length));
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(250_000);
  });

  it("does not hide that the API has no such path", async () => {
    await using test = await startTestServer({ console: await builtConsole() });
    expect((await test.call("GET", "/sites", { key: null })).status).toBe(404);
    for (const path of ["/v2/nothing", "/nothing.js", "/console/nothing.js", "/console/index.html"]) {
      expect((await test.call("GET", path, { key: null, headers: asBrowser })).status).toBe(404);
    }
  });

  it("says that it is being built, and then why it could not be", async () => {
    const folder = mkdtempSync(join(tmpdir(), "console-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const paths = { folder: join(folder, "build"), failure: join(folder, "failed") };
    await using test = await startTestServer({ console: paths });
    const waiting = await test.call("GET", "/", { key: null });
    expect(waiting.status).toBe(503);
    expect(waiting.text).toContain("The console is being built.");
    writeFileSync(paths.failure, "The <disk> is full.");
    expect((await test.call("GET", "/", { key: null })).text).toContain(
      "next start tries again: The &lt;disk&gt; is full.",
    );
  });
});
