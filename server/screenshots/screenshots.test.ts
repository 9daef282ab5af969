import { chmod, chown, mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { browserUsers } from "@sitewright/runtimes/owner.ts";
import { PNG } from "pngjs";
import { describe, expect, onTestFinished, test } from "vitest";
import { removeLeftoverScreenshots } from "./browserPlace.ts";
import { findChromium } from "./chromium.ts";
import { compareScreenshots } from "./compareScreenshots.ts";
import type { LoadedPage, LoadPage } from "./pageProxy.ts";
import { makeScreenshots, openScreenshotStore } from "./screenshots.ts";

const { signal } = new AbortController();
const host = "demo.localhost:8081";

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "screenshots-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Pages by path. */
type Site = Readonly<Record<string, { readonly type?: string; readonly content?: string; readonly location?: string }>>;

function siteOf(pages: Site, asked: string[] = []): LoadPage {
  return async (at) => {
    asked.push(at);
    const page = pages[at];
    const none = { reason: null, type: "text/html", content: Buffer.of(), location: null };
    if (page === undefined) return { ...none, status: 404 };
    const { type = none.type, content = "", location = null } = page;
    return { ...none, status: location === null ? 200 : 302, type, content: Buffer.from(content), location };
  };
}

const colored = (color: string, more = "") => ({
  content: `<html><body style="background:${color}">${more}</body></html>`,
});

async function open() {
  const chromium = await findChromium(process.env.CHROMIUM ?? null);
  if (chromium === null) throw new Error("There is no Chromium: apt-get install chromium");
  const folder = await freshFolder();
  const screenshots = makeScreenshots({ chromium, folder });
  const compare = (before: LoadPage, after: LoadPage, paths = ["/"], id = "one") =>
    screenshots.compare({ id, host, paths, before, after }, signal);
  return { folder, compare, store: openScreenshotStore(folder) };
}

const silent = (reason: string) => ({ status: 0, reason, type: "", content: Buffer.of(), location: null });
/** The site with a change to one path. */
const but =
  (site: LoadPage, path: string, changed: Partial<LoadedPage>): LoadPage =>
  async (at, stop) => ({ ...(await site(at, stop)), ...(at === path && changed) });

describe("two states of a site", () => {
  test("that look the same do not differ, and both screenshots are stored", async () => {
    const { compare, store } = await open();
    const page = `<html><head><link rel="stylesheet" href="https://${host}/style.css"></head><body>
      <script>document.body.style.background = "black"</script>
      <div hidden><img src="/broken.svg"><img src="http://127.0.0.1:9/x.png"><img src="http://other.localhost/x.png"></div>
      </body></html>`;
    const style = { type: "text/css", content: "body { background: blue }" };
    const asked: string[] = [];
    const site = { "/": { location: `https://${host}/home/` }, "/home/": { content: page }, "/style.css": style };
    const before = but(siteOf(site, asked), "/broken.svg", silent("crashed"));
    // They are loaded with resources, HTTPS URLs and redirects, but without scripts and foreign resources. A resource may be
    // an error.
    expect(await compare(before, siteOf({ "/": colored("blue") }))).toEqual([{ path: "/", share: 0 }]);
    const loaded = asked.filter((each) => each !== "/favicon.ico");
    expect(loaded.toSorted()).toEqual(["/", "/broken.svg", "/home/", "/style.css"]);

    const [kept] = await store.find("one", "/");
    const png = kept?.before.png ?? Buffer.of();
    const { width, height } = PNG.sync.read(png);
    expect([width, height > 1_000]).toEqual([1280, true]);
    expect(kept).toEqual({
      path: "/",
      share: 0,
      before: { bytes: png.length, png },
      after: { bytes: png.length, png },
    });
    const listed = { bytes: png.length, png: null };
    expect(await store.find("one", null)).toEqual([{ path: "/", share: 0, before: listed, after: listed }]);
    expect(await store.find("one", "/other/")).toEqual([]);
  });

  test("differ by the visible fraction, page by page, and replace earlier screenshots with the same id", async () => {
    const { compare, store, folder } = await open();
    const away = siteOf({ "/": { location: "http://other.localhost/" } });
    // Both redirect to another site.
    expect(await compare(away, away)).toEqual([{ path: "/", share: 0 }]);

    const pages = {
      "/": colored("white"),
      "/account/": { location: "/login/" },
      "/login/": colored("white"),
      "/broken/": colored("white"),
      "/shop/?a=1": colored("white"),
    };
    const half = '<div style="position:fixed;inset:0 50% 0 0;background:black"></div>';
    const after = siteOf({ ...pages, "/": colored("red"), "/shop/?a=1": colored("white", half) });
    // A page is not compared if it, or the target of its redirect, can't be rendered without writing or is an error.
    const before = but(but(siteOf(pages), "/login/", silent("wouldWrite")), "/broken/", { status: 500 });
    const [front, shop, ...others] = await compare(before, after, ["/", "/account/", "/broken/", "/shop/?a=1"]);
    expect(front).toEqual({ path: "/", share: 1 });
    expect([shop?.path, others]).toEqual(["/shop/?a=1", []]);
    expect(shop?.share).toBeCloseTo(0.5, 1);
    const kept = await store.find("one", null);
    expect(kept.map(({ path: page, before: { bytes } }) => [page, bytes > 100])).toEqual([
      ["/", true],
      ["/shop/?a=1", true],
    ]);

    expect(await readdir(folder)).toEqual(["one"]);
    await store.expire(new Date(Date.now() - 60_000));
    expect(await readdir(folder)).toEqual(["one"]);
    await utimes(path.join(folder, "one"), new Date(0), new Date(0));
    await store.expire(new Date(Date.now() - 60_000));
    expect(await store.find("one", null)).toEqual([]);
  });

  test.each(["before", "after"])(
    "fail to compare if a page has no answer %s, or one of its resources can't be loaded",
    async (when) => {
      const { compare, folder } = await open();
      const image = { type: "image/svg+xml", content: "<svg/>" };
      const site = siteOf({ "/": colored("white", '<img src="/a.svg">'), "/a.svg": image });
      const inOrder = (other: LoadPage) => (when === "before" ? ([other, site] as const) : ([site, other] as const));
      const late = but(site, "/", silent("deadline"));
      await expect(compare(...inOrder(late))).rejects.toThrow("/ was not answered: deadline");
      const away: LoadPage = (at, stop) =>
        at === "/a.svg" ? Promise.reject(new Error("The edge starts")) : site(at, stop);
      await expect(compare(...inOrder(away))).rejects.toThrow("/a.svg can't be loaded");
      expect(await readdir(folder)).toEqual([]);
    },
  );
});

test("a browser that fails is reported, and nothing is stored", async () => {
  const folder = await freshFolder();
  // The browser runs as another user.
  await chmod(folder, 0o755);
  const broken = path.join(folder, "chromium");
  await writeFile(broken, "#!/bin/sh\necho no display >&2\nexit 7\n", { mode: 0o755 });
  const screenshots = makeScreenshots({ chromium: broken, folder: path.join(folder, "kept") });
  const site = siteOf({ "/": colored("white") });
  const comparison = { id: "one", host, paths: ["/"], before: site, after: site };
  await expect(screenshots.compare(comparison, signal)).rejects.toThrow("Chromium ended with 7: no display");
  expect(await readdir(path.join(folder, "kept"))).toEqual([]);
});

test("a file that is not a PNG can't be compared", async () => {
  const folder = await freshFolder();
  const file = path.join(folder, "x.png");
  await writeFile(file, "not a PNG");
  await expect(compareScreenshots({ before: file, after: file })).rejects.toThrow();
});

test("old temporary folders of killed processes are removed, and those of other users are kept", async () => {
  const folder = await freshFolder();
  const isRoot = process.getuid?.() === 0;
  const [browser = 0] = browserUsers();
  const make = async (name: string, uid: number, at: Date) => {
    await mkdir(path.join(folder, name));
    await writeFile(path.join(folder, name, "picture.png"), "");
    if (isRoot) await chown(path.join(folder, name), uid, uid);
    await utimes(path.join(folder, name), at, at);
  };
  await make("sitewright-picture-a", browser, new Date(0));
  await make("sitewright-picture-b", browser, new Date());
  await make("something-else", browser, new Date(0));
  await symlink(path.join(folder, "something-else"), path.join(folder, "sitewright-picture-c"));
  const kept = ["sitewright-picture-b", "sitewright-picture-c", "something-else"];
  if (isRoot) {
    await make("sitewright-picture-d", 150_000, new Date(0));
    kept.push("sitewright-picture-d");
  }
  await removeLeftoverScreenshots(new Date(Date.now() - 60_000), folder);
  expect((await readdir(folder)).toSorted()).toEqual(kept.toSorted());
});

test("a configured path is the only place where Chromium is looked for", async () => {
  expect(await findChromium("/nowhere/chromium")).toBeNull();
});
