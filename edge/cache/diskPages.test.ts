import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { makeFolder } from "../testing/withEdge.ts";
import type { RenderedPage } from "./cachedPage.ts";
import { type DiskPages, openDiskPages } from "./diskPages.ts";

const always = { fresh: 1, stale: 2, lastResort: 3, variesByLanguage: false };

function page(path: string, body = "a page", environmentId = "one"): RenderedPage {
  const address = { segments: path.split("/").filter((one) => one !== ""), query: "" };
  const request = { environmentId, key: `${environmentId} 1 ${path}`, address, isVariant: false };
  return {
    request,
    headers: [["Content-Type", "text/html"]],
    body: Buffer.from(body),
    madeAt: 5,
    lifetime: always,
    tags: " #1 post ",
  };
}

const key = (path: string, environmentId = "one") => page(path, "", environmentId).request.key;

async function start(folder?: string, bytes = 1 << 20) {
  const failures: unknown[] = [];
  const where = folder ?? join(await makeFolder(), "pages");
  const open = () => openDiskPages({ folder: where, bytes, onFailure: (error) => failures.push(error) });
  return { folder: where, pages: open(), open, failures };
}

async function put(pages: DiskPages, ...all: readonly RenderedPage[]): Promise<void> {
  for (const one of all) {
    pages.put(one);
    await eventually(async () => expect(await pages.get(one.request.environmentId, one.request.key)).not.toBeNull());
  }
}

test("a page is read back unchanged, also by the next process", async () => {
  const { pages, open } = await start();
  await put(pages, page("/a"));
  expect(await pages.get("one", key("/a"))).toEqual(page("/a"));
  expect(await open().get("one", key("/a"))).toEqual(page("/a"));
});

test("returns null for a page that was never cached", async () => {
  const { pages } = await start();
  expect(await pages.get("one", key("/a"))).toBeNull();
});

test("a purged page is gone, also for the next process; other pages stay", async () => {
  const { pages, open } = await start();
  await put(pages, page("/a"), page("/b"), page("/a", "x", "two"));
  pages.purge("one", ({ address }) => address.segments[0] === "a");
  for (const each of [pages, open()]) {
    expect(await each.get("one", key("/a"))).toBeNull();
    expect(await each.get("one", key("/b"))).not.toBeNull();
    expect(await each.get("two", key("/a", "two"))).not.toBeNull();
  }
});

test("a page is purged by its tags, also by the next process", async () => {
  const { pages, open } = await start();
  await put(pages, page("/a"), { ...page("/b"), tags: " #2 " }, { ...page("/c"), tags: null });
  const next = open();
  await next.indexed();
  const seen: unknown[] = [];
  next.purge("one", ({ tags }) => {
    seen.push(tags);
    return tags === " #2 ";
  });
  expect(new Set(seen)).toEqual(new Set([" #1 post ", " #2 ", null]));
  expect(await next.get("one", key("/a"))).not.toBeNull();
  expect(await next.get("one", key("/b"))).toBeNull();
});

test("a page that is purged while it is being written never reaches the disk", async () => {
  const { pages, folder } = await start();
  await put(pages, page("/b"));
  pages.put(page("/a"));
  pages.purge("one", () => true);
  await eventually(async () => expect(await readdir(join(folder, "one"))).toEqual([]));
  expect(await pages.get("one", key("/a"))).toBeNull();
});

test("a purge before the files are indexed removes all pages of the environment", async () => {
  const { pages, open } = await start();
  await put(pages, page("/a"), page("/b"));
  const next = open();
  next.purge("one", ({ address }) => address.segments[0] === "a");
  await next.indexed();
  expect(await next.get("one", key("/b"))).toBeNull();
});

test("discards the pages of an environment that was being written to when the process was killed", async () => {
  const { pages, open } = await start();
  await put(pages, page("/a"), page("/a", "x", "two"));
  pages.beginWrite("one");
  const next = open();
  expect(await next.get("one", key("/a"))).toBeNull();
  expect(await next.get("two", key("/a", "two"))).not.toBeNull();
});

test("keeps the pages when all writes have ended", async () => {
  const { pages, open } = await start();
  await put(pages, page("/a"));
  const [first, second] = [pages.beginWrite("one"), pages.beginWrite("one")];
  first();
  expect(existsSync(join((await start()).folder))).toBe(true);
  second();
  expect(await open().get("one", key("/a"))).not.toBeNull();
});

test("a purge of everything keeps the marker of a running write", async () => {
  const { folder, open } = await start();
  const next = open();
  next.beginWrite("one");
  next.purge("one", () => true);
  expect(readdirSync(join(folder, "one"))).toContain("writing");
});

test("only pages of served environments and current versions stay", async () => {
  const { pages, folder } = await start();
  await put(pages, page("/a"), page("/a", "x", "two"));
  pages.retain(new Map([["one", "one 1"]]));
  expect([await readdir(join(folder, "one")), await readdir(join(folder, "two"))]).toEqual([[expect.any(String)], []]);
  pages.retain(new Map([["one", "one 2"]]));
  expect(await readdir(join(folder, "one"))).toEqual([]);
});

test("removes the oldest pages when the limit is exceeded, also those of the previous process", async () => {
  const body = "x".repeat(1_000);
  const { pages, folder } = await start(undefined, 3_000);
  await put(pages, page("/a", body), page("/b", body));
  pages.put(page("/c", body));
  await eventually(async () => expect(await pages.get("one", key("/c"))).not.toBeNull());
  expect(await pages.get("one", key("/a"))).toBeNull();
  const { pages: next } = await start(folder, 2_000);
  await next.indexed();
  expect(await readdir(join(folder, "one"))).toHaveLength(1);
});

test("pages that were asked for again outlast others, also if memory answered", async () => {
  const body = "x".repeat(1_000);
  const { pages, folder } = await start(undefined, 5_000);
  const files = () => readdirSync(join(folder, "one")).filter((name) => !name.endsWith(".new"));
  const write = async (path: string) => {
    const before = files();
    pages.put(page(path, body));
    await eventually(() => expect(files().some((name) => !before.includes(name))).toBe(true));
  };
  await put(pages, page("/loaded", body));
  await write("/touched");
  pages.touch("one", key("/touched"));
  for (let at = 0; at < 6; at += 1) await write(`/once/${at}`);
  for (const path of ["/loaded", "/touched"]) expect(await pages.get("one", key(path))).not.toBeNull();
  expect(await pages.get("one", key("/once/0"))).toBeNull();
});

test("a page replaces the earlier one with the same key", async () => {
  const { pages, folder } = await start();
  await put(pages, page("/a", "old"));
  pages.put(page("/a", "new"));
  await eventually(async () => expect((await pages.get("one", key("/a")))?.body.toString()).toBe("new"));
  expect(await readdir(join(folder, "one"))).toHaveLength(1);
});

test.each([
  ["cut short", async (file: string) => truncate(file, 40)],
  ["too long", async (file: string) => writeFile(file, Buffer.concat([await readFile(file), Buffer.of(1)]))],
  ["empty", async (file: string) => truncate(file, 0)],
  ["something else", async (file: string) => writeFile(file, "something else that is not a page")],
  ["zeros", async (file: string) => writeFile(file, Buffer.alloc(500))],
])("ignores a file that is %s", async (_, damage) => {
  const { pages, folder } = await start();
  await put(pages, page("/a"));
  const [name = ""] = await readdir(join(folder, "one"));
  await damage(join(folder, "one", name));
  expect(await pages.get("one", key("/a"))).toBeNull();
});

test("removes unfinished files of a killed process", async () => {
  const { folder, open } = await start();
  await mkdir(join(folder, "one"), { recursive: true });
  writeFileSync(join(folder, "one", "abc.1.new"), "half");
  await mkdir(join(folder, ".gone-1-1-1/x"), { recursive: true });
  await open().indexed();
  expect([await readdir(join(folder, "one")), await readdir(folder)]).toEqual([[], ["one"]]);
});

test("if a marker can't be set, the write continues and nothing is served from disk any more", async () => {
  const { pages, folder, failures } = await start();
  await put(pages, page("/a"));
  await writeFile(join(folder, "two"), "not a folder");
  pages.beginWrite("two")();
  expect(failures.length).toBeGreaterThan(0);
  expect(await pages.get("one", key("/a"))).toBeNull();
  pages.purge("one", () => true);
});

test("starts even if the folder can't be created", async () => {
  const file = join(await makeFolder(), "file");
  await writeFile(file, "not a folder");
  const { pages, failures } = await start(join(file, "pages"));
  await pages.indexed();
  expect(failures.length).toBeGreaterThan(0);
  pages.put(page("/a"));
  pages.beginWrite("one")();
  expect(await pages.get("one", key("/a"))).toBeNull();
});

test("reports failed writes and does not cache the page", async () => {
  const { pages, folder, failures } = await start();
  await writeFile(join(folder, "one"), "not a folder");
  pages.put(page("/a"));
  await eventually(() => expect(failures).toHaveLength(1));
  expect(await pages.get("one", key("/a"))).toBeNull();
});
