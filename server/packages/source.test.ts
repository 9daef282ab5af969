import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeMirror, makeMirror } from "./mirror.ts";
import { ask, SourceFailure } from "./request.ts";
import { openPackageSource } from "./source.ts";
import { listening } from "./testing/listening.ts";
import { pluginZip, themeZip, zipOf } from "./testing/zips.ts";

const { signal } = new AbortController();

const serving = (answer: RequestListener) => listening(createServer(answer));

/** Starts a mirror of these zips, by file name. */
async function mirror(zips: Readonly<Record<string, Buffer>>) {
  const folder = await mkdtemp(path.join(tmpdir(), "mirror-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const add = (name: string, zip: Buffer) => writeFile(path.join(folder, name), zip);
  for (const [name, zip] of Object.entries(zips)) await add(name, zip);
  const url = await listening(makeMirror(folder));
  return { folder, add, url, source: openPackageSource(url) };
}

describe("a mirror", () => {
  test("offers the newest version of each package with its requirements", async () => {
    const { source } = await mirror({
      "a.zip": await pluginZip("shop", "1.9", "", {}, { "Requires PHP": "8.2", "Requires at least": "6.5" }),
      "b.zip": await pluginZip("shop", "1.10"),
      "c.zip": await themeZip("leaf", "2.0"),
    });
    const plugins = await source.newest("plugin", ["shop/shop.php", "unknown/unknown.php", "leaf"], signal);
    expect([...plugins]).toEqual([["shop/shop.php", { slug: "shop", version: "1.10", php: null, wordpress: null }]]);
    const themes = await source.newest("theme", ["leaf", "shop"], signal);
    expect([...themes]).toEqual([["leaf", { slug: "leaf", version: "2.0", php: null, wordpress: null }]]);
  });

  test("offers every version of WordPress, and nothing else, as WordPress updates", async () => {
    const core = (version: string) => zipOf({ "wordpress/wp-includes/version.php": version });
    const { source } = await mirror({
      "wordpress-7.1.2.zip": await core("7.1.2"),
      "wordpress-7.2.zip": await core("7.2"),
      "shop.zip": await pluginZip("shop", "9.0"),
    });
    const cores = await source.cores("7.1.1", signal);
    expect(new Set(cores.map(({ version }) => version))).toEqual(new Set(["7.1.2", "7.2"]));
    const [first] = cores;
    if (first === undefined) throw new Error("There is none");
    expect((await ask(first.url, { source: source.url, seconds: 10, signal })).status).toBe(200);
  });

  test("serves every version unchanged", async () => {
    const zips = { old: await pluginZip("shop", "1.9"), new: await pluginZip("shop", "1.10") };
    const { source } = await mirror({ "a.zip": zips.old, "b.zip": zips.new });
    const found = await source.find("plugin", "shop", signal);
    expect(new Set(found?.versions.map(({ version }) => version))).toEqual(new Set(["1.9", "1.10"]));
    const old = found?.versions.find(({ version }) => version === "1.9");
    if (old === undefined) throw new Error("It is not there");
    const { body, bytes } = await ask(old.url, { source: source.url, seconds: 10, signal });
    expect(bytes).toBe(zips.old.length);
    expect((await buffer(body)).equals(zips.old)).toBe(true);
    expect(await source.find("theme", "shop", signal)).toBeNull();
    expect(await source.find("plugin", "../shop", signal)).toBeNull();
  });

  test("serves zips that are added while it runs, and describes the ones it skips", async () => {
    const { folder, add, source } = await mirror({
      "broken.zip": Buffer.from("no zip"),
      "odd.zip": await zipOf({ "odd/x.txt": "" }),
    });
    expect(await source.find("plugin", "shop", signal)).toBeNull();
    await add("shop.zip", await pluginZip("shop", "1.0"));
    await add("wordpress-7.1.4.zip", await zipOf({ "wordpress/index.php": "<?php" }));
    expect(await source.find("plugin", "shop", signal)).not.toBeNull();
    expect(await describeMirror(folder)).toBe(
      [
        "Plugins: 1, themes: 0, versions of WordPress: 1, language packs: 0, zips: 2",
        "Left out: broken.zip: The package is refused: it is damaged, truncated, or not a zip.",
        "Left out: odd.zip: neither a plugin nor a theme, or without a version.",
      ].join("\n"),
    );
  });

  test("answers WordPress's version checks", async () => {
    const { url } = await mirror({ "wordpress-7.1.4.zip": await zipOf({ "wordpress/index.php": "<?php" }) });
    const check = async (version: string) => (await fetch(`${url}/core/version-check/1.7/?version=${version}`)).json();
    expect(await check("7.1.1")).toMatchObject({ offers: [{ response: "upgrade", version: "7.1.4" }] });
    expect(await check("7.1.4")).toMatchObject({ offers: [{ response: "latest" }] });
  });

  test("handles invalid requests", async () => {
    const { url } = await mirror({ "a.zip": await pluginZip("shop", "1.0") });
    for (const where of ["/", "/plugin/../a.zip", "/plugin/%2e%2e%2fa.zip", "/a.zip", "/plugins/info/1.2/", "/%"]) {
      expect((await fetch(url + where)).status).toBeGreaterThanOrEqual(400);
    }
    const odd = await fetch(`${url}/plugins/update-check/1.1/`, { method: "POST", body: "plugins={" });
    expect(await odd.json()).toEqual({ plugins: {}, no_update: {}, translations: [] });
  });
});

describe("a source", () => {
  const newest = async (answer: RequestListener) =>
    openPackageSource(await serving(answer)).newest("plugin", ["shop/shop.php"], signal);
  const offer = { slug: "shop", new_version: "2.0", requires: false, requires_php: "8.0" };

  test.each([
    ["offers nothing", { plugins: [], no_update: [] }, null],
    ["has no newer version", { plugins: [], no_update: { "shop/shop.php": offer } }, "2.0"],
    ["offers an unrequested package", { plugins: { "other/other.php": offer } }, null],
    ["offers something without a version", { plugins: { "shop/shop.php": { slug: "shop" } } }, null],
    ["names a slug that is a path", { plugins: { "shop/shop.php": { ...offer, slug: "../x" } } }, null],
    ["answers with a list", [1, 2], null],
    ["answers with nothing", null, null],
  ])("that %s", async (_, body, version) => {
    const found = await newest((_request, response) => response.end(JSON.stringify(body)));
    expect(found.get("shop/shop.php")?.version ?? null).toBe(version);
  });

  test.each<[string, RequestListener, string]>([
    ["answers with a page", (_, response) => response.end("<html>"), "did not answer with JSON"],
    ["is broken", (_, response) => response.writeHead(503).end("{}"), "status 503"],
    [
      "closes the connection early",
      (_, response) => response.writeHead(200, { "content-length": 100 }).write("{", () => response.destroy()),
      "could not be reached",
    ],
    ["answers without end", (_, response) => response.end("x".repeat(20_000_001)), "too much data"],
    [
      "redirects a POST request",
      (_, response) => response.writeHead(307, { location: "/there" }).end(),
      "redirects POST requests",
    ],
  ])("that %s fails", async (_, answer, says) => {
    await expect(newest(answer)).rejects.toThrow(says);
    await expect(newest(answer)).rejects.toThrow(SourceFailure);
  });

  test("that is down fails", async () => {
    const gone = createServer();
    const url = await listening(gone);
    await new Promise((resolve) => gone.close(resolve));
    await expect(openPackageSource(url).newest("plugin", ["a/a.php"], signal)).rejects.toThrow("could not be reached");
  });

  test("that hangs, or never ends its response, times out", async () => {
    for (const answer of [
      () => undefined,
      (_: unknown, response: { write(text: string): void }) => response.write("{"),
    ]) {
      const source = new URL(await serving(answer));
      const asked = ask(source, { source, seconds: 0.2, signal }).then(({ body }) => buffer(body));
      await expect(asked).rejects.toThrow("took too long to answer");
    }
  });

  test("can be aborted", async () => {
    const source = new URL(await serving(() => undefined));
    const stop = new AbortController();
    const asked = ask(source, { source, seconds: 60, signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
  });
});

describe("a redirect", () => {
  async function redirectedTo(location: string) {
    const source = new URL(await serving((_, response) => response.writeHead(302, { location }).end()));
    return ask(source, { source, seconds: 5, signal });
  }

  test("to the source itself is followed", async () => {
    const url = await serving((request, response) =>
      request.url === "/a" ? response.writeHead(301, { location: "/b" }).end() : response.end("there"),
    );
    const { body } = await ask(new URL("/a", url), { source: new URL(url), seconds: 5, signal });
    expect((await buffer(body)).toString()).toBe("there");
  });

  test.each([
    "http://127.0.0.1:1/",
    "http://localhost:1/",
    "http://[::1]:1/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest",
    "http://[::ffff:127.0.0.1]/",
  ])("to %s is not followed", async (location) => {
    await expect(redirectedTo(location)).rejects.toThrow(/not a public address|could not be reached/);
  });

  test.each(["file:///etc/passwd", "ftp://example.com/", "http://:"])("to %s is not followed", async (location) => {
    await expect(redirectedTo(location)).rejects.toThrow("an invalid URL");
  });

  test("loop is detected", async () => {
    const url = await serving((_, response) => response.writeHead(302, { location: "/" }).end());
    await expect(ask(new URL(url), { source: new URL(url), seconds: 5, signal })).rejects.toThrow("too often");
  });
});

test("invalid offers of WordPress are skipped", async () => {
  const full = "/release/wordpress-7.2.zip";
  const offers = [
    { version: "7.2", packages: { full } },
    { version: "7.1.2", download: "/release/wordpress-7.1.2.zip" },
    { version: 7, download: full },
    { version: "7.3" },
    { version: "7.4", download: "ftp://packages.example/x.zip" },
    null,
  ];
  const url = await serving((_, response) => response.end(JSON.stringify({ offers })));
  const cores = await openPackageSource(url).cores("7.1.1", signal);
  expect(cores.map(({ version, url: { pathname } }) => [version, pathname])).toEqual([
    ["7.2", full],
    ["7.1.2", "/release/wordpress-7.1.2.zip"],
  ]);
  const empty = await serving((_, response) => response.end("{}"));
  expect(await openPackageSource(empty).cores("7.1.1", signal)).toEqual([]);
  const html = await serving((_, response) => response.end("<html>"));
  await expect(openPackageSource(html).cores("7.1.1", signal)).rejects.toThrow(SourceFailure);
});
