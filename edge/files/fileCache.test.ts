import { statSync } from "node:fs";
import { rename, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { ask } from "../testing/http.ts";
import { makeFolder, startSite, writeFiles } from "../testing/withEdge.ts";
import { type CachedFile, createFileCache } from "./fileCache.ts";

const css = "body { color: red }\n".repeat(200);

function versionOf(file: string) {
  const { size, mtimeMs, ctimeMs, ino } = statSync(file);
  return { size, modified: mtimeMs, changed: ctimeMs, inode: ino };
}

/** A cache whose clock is an hour ahead, so that no file is too new. */
async function start(files: Readonly<Record<string, string | Buffer>>, bytes = 1 << 20) {
  const folder = await makeFolder();
  await writeFiles(folder, files);
  const cache = createFileCache(bytes, () => Date.now() + 3_600_000);
  const fileOf = (name: string) => path.join(folder, name);
  return {
    folder,
    cache,
    fileOf,
    get: async (name: string, environmentId = "own") => cache.get(fileOf(name), versionOf(fileOf(name)), environmentId),
  };
}

const bodyOf = (file: CachedFile | null) => file?.inEncoding("identity").body.toString();

describe("a file", () => {
  test("is read only once while it is unchanged", async () => {
    const { get, fileOf } = await start({ "a.css": css });
    const first = await get("a.css");
    expect(bodyOf(first)).toBe(css);
    expect(await get("a.css")).toBe(first);
    await writeFile(fileOf("a.css"), "other");
    expect(bodyOf(await get("a.css"))).toBe("other");
  });

  test("is recognised as replaced even if size and modification time are equal", async () => {
    const { get, fileOf } = await start({ "a.css": "one" });
    const { mtime, atime } = statSync(fileOf("a.css"));
    await get("a.css");
    await writeFile(fileOf("b.css"), "two");
    await utimes(fileOf("b.css"), atime, mtime);
    await rename(fileOf("b.css"), fileOf("a.css"));
    expect(bodyOf(await get("a.css"))).toBe("two");
  });

  test("that has just been written is not cached", async () => {
    const folder = await makeFolder();
    await writeFiles(folder, { "a.css": css });
    const file = path.join(folder, "a.css");
    expect(await createFileCache(1 << 20).get(file, versionOf(file), "own")).toBeNull();
  });

  test.each([
    ["is cut short", (file: string) => truncate(file, 3)],
    ["is replaced", async (file: string) => rename(`${file}.next`, file)],
    [
      "becomes a link",
      async (file: string) => {
        await rename(file, `${file}.old`);
        await symlink(`${file}.old`, file);
      },
    ],
  ])("that %s since the lookup is not cached", async (_, change) => {
    const { cache, fileOf } = await start({ "a.css": css, "a.css.next": css });
    const version = versionOf(fileOf("a.css"));
    await change(fileOf("a.css"));
    expect(await cache.get(fileOf("a.css"), version, "own")).toBeNull();
  });

  test("that is too large is not cached", async () => {
    const { get } = await start({ "a.jpg": Buffer.alloc(3 << 20), "b.js": "x".repeat(2 << 20) }, 10 << 20);
    expect([await get("a.jpg"), await get("b.js")]).toEqual([null, null]);
  });

  test("is removed when memory is full, if it was requested only once", async () => {
    const names = Array.from({ length: 20 }, (_, at) => `${at}.bin`);
    const { get } = await start(Object.fromEntries(names.map((name) => [name, Buffer.alloc(100_000)])), 1 << 20);
    const first = await get("0.bin");
    for (const name of names.slice(1)) await get(name);
    expect(await get("0.bin")).not.toBe(first);
  });

  test("is not removed because another company has many files", async () => {
    const names = Array.from({ length: 20 }, (_, at) => `${at}.bin`);
    const { get, cache } = await start(Object.fromEntries(names.map((name) => [name, Buffer.alloc(100_000)])), 1 << 20);
    cache.setPayers(new Map(["many 1", "many 2"].map((environment) => [environment, "many"])));
    const first = await get("0.bin");
    for (let round = 0; round < 3; round += 1) {
      for (const [at, name] of names.slice(1).entries()) await get(name, `many ${(at % 2) + 1}`);
    }
    expect(await get("0.bin")).toBe(first);
  });
});

describe("a text file", () => {
  const open = { br: brotliDecompressSync, zstd: zstdDecompressSync, gzip: gunzipSync };

  test.each(["br", "zstd", "gzip"] as const)("is sent as %s once compressed, with its own ETag", async (encoding) => {
    const { get } = await start({ "a.css": css });
    const file = await get("a.css");
    await eventually(() => expect(file?.inEncoding(encoding).head).toContain("Content-Encoding"));
    const encoded = file?.inEncoding(encoding);
    expect(open[encoding](encoded?.body ?? "").toString()).toBe(css);
    expect(encoded?.etag).not.toBe(file?.inEncoding("identity").etag);
    expect(encoded?.head.join(" ")).toContain("Vary Accept-Encoding");
  });

  test("is sent as compressed in advance by the developer", async () => {
    const smaller = brotliCompressSync("/* by hand */");
    const { get } = await start({ "a.css": css, "a.css.br": smaller });
    const file = await get("a.css");
    await eventually(() => expect(file?.inEncoding("br").body).toEqual(smaller));
  });

  test("is compressed by the edge if the precompressed file is older", async () => {
    const { get, fileOf } = await start({ "a.css": css, "a.css.br": brotliCompressSync("/* old */") });
    await utimes(fileOf("a.css.br"), 1, 1);
    const file = await get("a.css");
    await eventually(() => expect(file?.inEncoding("br").head).toContain("Content-Encoding"));
    expect(brotliDecompressSync(file?.inEncoding("br").body ?? "").toString()).toBe(css);
  });

  test("that is short is sent uncompressed, like an image", async () => {
    const { get } = await start({ "short.css": "a{}", "a.jpg": "jpeg" });
    for (const name of ["short.css", "a.jpg"]) {
      const file = await get(name);
      expect(file?.isCompressible).toBe(false);
      expect(file?.inEncoding("br")).toBe(file?.inEncoding("identity"));
    }
  });
});

describe("a visitor", () => {
  async function startCompressed() {
    const site = await startSite({ "style.css": css, "cat.jpg": "jpeg" });
    const file = path.join(site.root, "style.css");
    await eventually(async () => {
      const got = await ask(site.edge, "/style.css", { headers: { "accept-encoding": "br" } });
      expect(got.headers["content-encoding"]).toBe("br");
    });
    return { ...site, file };
  }

  test("gets an accepted encoding, a 304 for the same file, and changes at once", async () => {
    const { edge, file } = await startCompressed();
    const [plain, small] = [
      await ask(edge, "/style.css"),
      await ask(edge, "/style.css", { headers: { "accept-encoding": "gzip, br" } }),
    ];
    expect([plain.body, brotliDecompressSync(small.bytes).toString()]).toEqual([css, css]);
    for (const { headers } of [plain, small]) {
      expect(headers).toMatchObject({ vary: "Accept-Encoding", "cache-control": "public, max-age=3600" });
      const known = { "if-none-match": headers.etag ?? "", "accept-encoding": "br" };
      expect(await ask(edge, "/style.css", { headers: known })).toMatchObject({ status: 304, body: "" });
    }
    await writeFile(file, "changed");
    expect((await ask(edge, "/style.css")).body).toBe("changed");
    const stale = { "if-none-match": small.headers.etag ?? "" };
    expect(await ask(edge, "/style.css", { headers: stale })).toMatchObject({ status: 200, body: "changed" });
  });

  test("gets ranges of the uncompressed file, also if the ETag or the time is still the same", async () => {
    const { edge } = await startCompressed();
    const { headers } = await ask(edge, "/style.css");
    const part = await ask(edge, "/style.css", { headers: { range: "bytes=0-3", "accept-encoding": "br" } });
    expect(part).toMatchObject({ status: 206, body: css.slice(0, 4) });
    expect(part.headers["content-encoding"]).toBeUndefined();
    const rangeIf = (condition = "", more = {}) =>
      ask(edge, "/style.css", { headers: { range: "bytes=0-3", "if-range": condition, ...more } });
    expect(headers.etag).toMatch(/^"/);
    expect(part.headers.etag).toBe(headers.etag);
    expect(await rangeIf(headers.etag)).toMatchObject({
      status: 206,
      body: css.slice(0, 4),
      headers: { etag: headers.etag },
    });
    expect(await rangeIf(headers["last-modified"])).toMatchObject({ status: 206 });
    const compressed = await ask(edge, "/style.css", { headers: { "accept-encoding": "br" } });
    expect(compressed.headers.etag).toMatch(/^W\/.*-br"$/);
    for (const other of [
      compressed.headers.etag,
      `W/${headers.etag}`,
      '"other"',
      "nonsense",
      new Date(0).toUTCString(),
    ]) {
      expect(await rangeIf(other)).toMatchObject({ status: 200, body: css });
    }
  });

  test("gets a new ETag and the whole file after a change that kept length and modification time", async () => {
    const { edge, file } = await startCompressed();
    await utimes(file, 1, 1);
    const strong = expect.objectContaining({ etag: expect.stringMatching(/^"/) });
    await eventually(async () => expect((await ask(edge, "/style.css")).headers).toEqual(strong));
    const { headers } = await ask(edge, "/style.css");
    await writeFile(file, css.toUpperCase());
    await utimes(file, 1, 1);
    const condition = { range: "bytes=0-3", "if-range": headers.etag ?? "" };
    const got = await ask(edge, "/style.css", { headers: condition });
    expect(got).toMatchObject({ status: 200, body: css.toUpperCase() });
    expect(got.headers.etag).not.toBe(headers.etag);
  });

  test("can make conditions with If-Match", async () => {
    const { edge } = await startCompressed();
    const { headers } = await ask(edge, "/style.css");
    const statusOf = async (match = "", more = {}) =>
      (await ask(edge, "/style.css", { headers: { "if-match": match, ...more } })).status;
    expect(await statusOf(headers.etag)).toBe(200);
    expect(await statusOf("*")).toBe(200);
    expect(await statusOf(`"other", ${headers.etag}`)).toBe(200);
    expect(await statusOf(`W/${headers.etag}`)).toBe(412);
    expect(await statusOf('"other"')).toBe(412);
    expect(await statusOf(headers.etag, { "if-unmodified-since": new Date(0).toUTCString() })).toBe(200);
  });

  test("can use HEAD and If-Modified-Since", async () => {
    const { edge } = await startCompressed();
    const got = await ask(edge, "/style.css", { method: "HEAD" });
    expect([got.status, got.body, got.headers["content-length"]]).toEqual([200, "", String(css.length)]);
    const since = { "if-modified-since": got.headers["last-modified"] ?? "" };
    expect(await ask(edge, "/style.css", { headers: since })).toMatchObject({ status: 304 });
    const before = { "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT" };
    expect(await ask(edge, "/style.css", { headers: before })).toMatchObject({ status: 200 });
    expect(await ask(edge, "/style.css", { headers: { "if-modified-since": "nonsense" } })).toMatchObject({
      status: 200,
    });
  });
});
