import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { create } from "tar";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RuntimeFailure } from "../runtime.ts";
import { DownloadRefused, download } from "./download.ts";
import type { TarballSource } from "./fetch.ts";
import { withLock } from "./lock.ts";
import type { AssetPackage } from "./package.ts";
import { createAssetStore } from "./store.ts";
import { targetOf, timeOf } from "./unpack.ts";

const quiet = () => undefined;
let folder = "";
let tarball: Buffer;
let wanted: AssetPackage;
let close = () => {};

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "assets-"));
  const source = path.join(folder, "source");
  const files = {
    "package/files/wordpress/wp-includes/version.php": "<?php $wp_version = '7.1.1';",
    "package/files/languages/de_DE.l10n.php": "<?php",
    "package/files/unwanted.txt": "no",
    "package/files/wordpress/large.bin": "x".repeat(300_000),
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(source, name)), { recursive: true });
    await writeFile(path.join(source, name), content);
  }
  await create({ file: path.join(folder, "p.tgz"), cwd: source, gzip: { level: 0 } }, ["package"]);
  tarball = await readFile(path.join(folder, "p.tgz"));
  wanted = {
    name: "example",
    version: "1.0.0",
    integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}`,
    parts: { "package/files/wordpress": "core", "package/files/languages": "languages" },
  };
});
afterEach(async () => {
  close();
  await rm(folder, { recursive: true, force: true });
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  close = () => server.close();
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/p.tgz`;
}

/** Sends the requested range, but at most its first `max` bytes. */
function sendRange(request: IncomingMessage, response: ServerResponse, max = Number.POSITIVE_INFINITY): void {
  const start = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
  const rest = tarball.subarray(start);
  response.writeHead(start > 0 ? 206 : 200, { "content-length": rest.length });
  if (rest.length <= max) response.end(rest);
  else response.write(rest.subarray(0, max), () => response.destroy());
}

function sourceAt(url: string, changes: Partial<TarballSource> = {}): TarballSource {
  return {
    findCached: async () => null,
    find: async () => ({ url, certificates: undefined, proxy: {} }),
    pack: async () => {
      throw new Error("unexpected call of pack");
    },
    ...changes,
  };
}

const store = (source: TarballSource, name = "store") =>
  createAssetStore({ folder: path.join(folder, name), wanted, source });
const address = (url: string) => ({ url, certificates: undefined, proxy: {} });

describe("a download", () => {
  test("resumes where it broke off, within one call and in the next", async () => {
    const ranges: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      ranges.push(request.headers.range);
      sendRange(request, response, ranges.length < 5 ? 50_000 : undefined);
    });
    const file = path.join(folder, "got.tgz");
    await expect(download(address(url), file, quiet, 1)).rejects.toThrow();
    expect(await readdir(folder)).toContain("got.tgz.part");
    await download(address(url), file, quiet, 1);
    expect(await readFile(file)).toEqual(tarball);
    const starts = ranges.map((range) => Number(/\d+/.exec(range ?? "0")?.[0]));
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    expect(starts.at(-1)).toBeGreaterThan(0);
  });

  test("starts again if the server ignores ranges or refuses this one", async () => {
    const whole = await serve((_request, response) => response.end(tarball));
    const file = path.join(folder, "got.tgz");
    await writeFile(`${file}.part`, "rubbish");
    await download(address(whole), file, quiet, 1);
    expect(await readFile(file)).toEqual(tarball);
    close();
    const strict = await serve((request, response) => {
      if (request.headers.range === undefined) response.end(tarball);
      else response.writeHead(416).end();
    });
    await writeFile(`${file}.part`, "rubbish");
    await download(address(strict), file, quiet, 1);
    expect(await readFile(file)).toEqual(tarball);
  });

  test("follows redirects and reports progress", async () => {
    const url = await serve((request, response) => {
      if (request.url === "/p.tgz") response.writeHead(302, { location: "/elsewhere" }).end();
      else sendRange(request, response);
    });
    let last = { done: 0, total: null as number | null };
    await download(address(url), path.join(folder, "got.tgz"), (done, total) => {
      last = { done, total };
    });
    expect(last).toEqual({ done: tarball.length, total: tarball.length });
  });

  test("is not retried if the server refuses it", async () => {
    let requests = 0;
    const url = await serve((_request, response) => {
      requests += 1;
      response.writeHead(404).end();
    });
    await expect(download(address(url), path.join(folder, "x"), quiet, 1)).rejects.toThrow(DownloadRefused);
    expect(requests).toBe(1);
  });
});

describe("the store", () => {
  test("unpacks the wanted parts read-only, with modification times derived from content", async () => {
    const url = await serve(sendRange);
    const files = await store(sourceAt(url)).prepare(quiet);
    expect(files.wordpressVersion).toBe("7.1.1");
    expect(files.locales).toEqual(["de_DE", "en_US"]);
    const version = path.join(files.core, "wp-includes/version.php");
    const found = await stat(version);
    expect(found.mode & 0o777).toBe(0o444);
    expect(found.mtime).toEqual(timeOf(await readFile(version)));
    const names = await readdir(path.dirname(files.core), { recursive: true });
    expect(names.filter((name) => name.includes("unwanted"))).toEqual([]);
  });

  test("is prepared once for concurrent calls and for later starts", async () => {
    let downloads = 0;
    const url = await serve((request, response) => {
      downloads += 1;
      sendRange(request, response);
    });
    await Promise.all([1, 2, 3].map(() => store(sourceAt(url)).prepare(quiet)));
    await store(sourceAt("http://127.0.0.1:1/")).prepare(quiet);
    expect(downloads).toBe(1);
  });

  test("never uses partially unpacked files", async () => {
    const url = await serve(sendRange);
    const { core } = await store(sourceAt(url)).prepare(quiet);
    const root = path.dirname(core);
    await rm(path.join(root, "manifest.json"));
    await rm(core, { recursive: true });
    await mkdir(`${root}.new`);
    await writeFile(path.join(`${root}.new`, "left over"), "x");
    await expect(store(sourceAt(url)).files()).rejects.toThrow(RuntimeFailure);
    await store(sourceAt(url)).prepare(quiet);
    expect(await readdir(root)).toEqual(expect.arrayContaining(["core", "languages", "manifest.json"]));
    expect(await readdir(root)).not.toContain("left over");
  });

  test("takes the tarball from npm's cache, but not a damaged one", async () => {
    const cached = path.join(folder, "cached");
    await writeFile(cached, tarball);
    await store(sourceAt("http://127.0.0.1:1/", { findCached: async () => cached })).prepare(quiet);
    await writeFile(cached, tarball.subarray(1));
    const url = await serve(sendRange);
    await store(sourceAt(url, { findCached: async () => cached }), "second").prepare(quiet);
  });

  test("lets npm download if the plain download is refused", async () => {
    const url = await serve((_request, response) => response.writeHead(401).end());
    const pack = async (_wanted: AssetPackage, target: string) => {
      const file = path.join(target, "packed.tgz");
      await writeFile(file, tarball);
      return file;
    };
    await store(sourceAt(url, { pack })).prepare(quiet);
  });

  test("says why the download failed and what to do next", async () => {
    const other = await serve((_request, response) => response.end("something else"));
    const failure = store(sourceAt(other)).prepare(quiet);
    await expect(failure).rejects.toThrow(RuntimeFailure);
    await expect(failure).rejects.toThrow(/hash does not match.*start again: the download starts from scratch/s);
    expect(await readdir(path.join(folder, "store/downloads"))).toEqual([]);
  });
});

test("reports a full disk as such, and not as a network problem", async () => {
  const find = async () => {
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  };
  const failure = store(sourceAt("http://127.0.0.1:1/", { find })).prepare(quiet);
  await expect(failure).rejects.toThrow(RuntimeFailure);
  await expect(failure).rejects.toThrow(
    /^The disk is full: there is no room left in .*downloads\. Make room(?!.*network)/,
  );
});

test("a lock is released when its holder is killed", async () => {
  const file = path.join(folder, "lock");
  const code = `import { withLock } from ${JSON.stringify(new URL("./lock.ts", import.meta.url).href)};
    await withLock(${JSON.stringify(file)}, async () => { console.log('held'); await new Promise(() => setInterval(() => {}, 1000)); });`;
  const holder = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => holder.stdout.once("data", resolve));
  let waited = false;
  const taken = withLock(
    file,
    async () => "mine",
    () => {
      waited = true;
      holder.kill("SIGKILL");
    },
  );
  expect(await taken).toBe("mine");
  expect(waited).toBe(true);
});

test("waiting for a lock can be given up, and then no work begins", async () => {
  const file = path.join(folder, "lock");
  const giveUp = new AbortController();
  let worked = 0;
  const work = async () => {
    worked += 1;
  };
  await withLock(file, async () => {
    await expect(withLock(file, work, () => giveUp.abort(), giveUp.signal)).rejects.toThrow(/abort/);
  });
  await expect(withLock(file, work, undefined, giveUp.signal)).rejects.toThrow(/abort/);
  expect(worked).toBe(0);
});

test.each([
  ["package/a/b/c.txt", "x/c.txt"],
  ["package/a/b", "x"],
  ["package/a/bc.txt", null],
  ["package/a/b/../../../etc/passwd", null],
  ["package/other", null],
])("%s is unpacked to %s", (entry, target) => {
  expect(targetOf(entry, { "package/a/b": "x" })).toBe(target);
});
