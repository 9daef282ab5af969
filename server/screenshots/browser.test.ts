import { execFileSync } from "node:child_process";
import { chmod, link, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { browserUsers } from "@sitewright/runtimes/owner.ts";
import { expect, onTestFinished, test } from "vitest";
import { type BrowserPlace, copyFromBrowser, withBrowserPlace } from "./browserPlace.ts";
import { runBrowser } from "./browserProcess.ts";
import { hasSandbox, takeScreenshot } from "./chromium.ts";

const isRoot = process.getuid?.() === 0;
const { signal } = new AbortController();
const shell = (script: string, place: BrowserPlace) => runBrowser("/bin/sh", ["-c", script], place, signal);

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "browser-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  // The browser runs as another user.
  await chmod(folder, 0o755);
  return folder;
}

/** A program in the place of Chromium. */
async function makeProgram(script: string): Promise<string> {
  const file = path.join(await freshFolder(), "chromium");
  await writeFile(file, `#!/bin/sh\n${script}`, { mode: 0o755 });
  return file;
}

test.runIf(isRoot)(
  "browsers that run at the same time are different users, who own nothing but their folders",
  async () => {
    await withBrowserPlace(async (one) => {
      await withBrowserPlace(async (other) => {
        const users = [await shell("id -u", one), await shell("id -u", other)];
        expect(users.map(Number)).toEqual([one.user, other.user]);
        expect(new Set([...users, "0\n"]).size).toBe(3);
        await expect(shell(`ls ${one.folder}`, other)).rejects.toThrow("Permission denied");
        await expect(shell("mv ../own ../gone", one)).rejects.toThrow("Permission denied");
      });
    });
  },
);

test("browsers wait for a place instead of failing, unless they are aborted", async () => {
  const gate = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  const browse = () =>
    withBrowserPlace(async () => {
      running += 1;
      most = Math.max(most, running);
      await gate.promise;
      running -= 1;
    });
  const [places, further] = [browserUsers().length, 2];
  const all = Array.from({ length: places + further }, browse);
  await expect.poll(() => running).toBe(places);
  const aborted = new AbortController();
  const last = withBrowserPlace(async () => "ran", aborted.signal);
  aborted.abort(new Error("The update was cancelled"));
  await expect(last).rejects.toThrow("The update was cancelled");
  gate.resolve();
  await Promise.all(all);
  expect(most).toBe(places);
});

test.runIf(process.platform === "linux")("a browser is the first to be killed, and gains no privileges", async () => {
  const script = "cat /proc/self/oom_score_adj; grep NoNewPrivs /proc/self/status";
  expect(await withBrowserPlace((place) => shell(script, place))).toBe("1000\nNoNewPrivs:\t1\n");
});

test("its folder is removed, whatever happens", async () => {
  let folder = "";
  const failing = withBrowserPlace(async (place) => {
    folder = path.dirname(place.folder);
    await shell("mkdir -p a/b; touch a/b/c; exit 3", place);
  });
  await expect(failing).rejects.toThrow("ended with 3");
  await expect(stat(folder)).rejects.toThrow("ENOENT");
});

test.each<[string, (picture: string, secret: string) => Promise<void> | void]>([
  ["a symbolic link", (picture, secret) => symlink(secret, picture)],
  ["a hard link", (picture, secret) => link(secret, picture)],
  ["a folder", (picture) => mkdir(picture).then(() => undefined)],
  ["a pipe", (picture) => void execFileSync("mkfifo", [picture])],
  ["nothing", () => undefined],
])("%s in the place of the picture is not copied", async (_, leave) => {
  const folder = await freshFolder();
  const [secret, target] = [path.join(folder, "secret"), path.join(folder, "target.png")];
  await writeFile(secret, "secret", { mode: 0o600 });
  await withBrowserPlace(async (place) => {
    await leave(path.join(place.folder, "picture.png"), secret);
    await expect(copyFromBrowser(place, "picture.png", target)).rejects.toThrow();
  });
  await expect(stat(target)).rejects.toThrow("ENOENT");
});

test("a picture that the browser made is copied", async () => {
  const target = path.join(await freshFolder(), "target.png");
  await withBrowserPlace(async (place) => {
    await shell("printf picture > picture.png", place);
    await copyFromBrowser(place, "picture.png", target);
  });
  expect(await readFile(target, "utf8")).toBe("picture");
});

test.each([
  ["in its sandbox if that works", 'case "$*" in *--no-sandbox*) exit 9;; esac', true],
  ["without its sandbox if the system does not allow it", 'case "$*" in *--no-sandbox*) ;; *) exit 9;; esac', false],
])("Chromium runs %s", async (_, condition, expected) => {
  const makePicture = 'for each; do case "$each" in --screenshot=*) : > picture.png;; esac; done';
  const chromium = await makeProgram(`${condition}\n${makePicture}\necho '<html></html>'`);
  expect(await hasSandbox(chromium)).toBe(expected);
  const file = path.join(await freshFolder(), "picture.png");
  await takeScreenshot({ chromium, url: "http://demo.localhost/", proxyPort: 9, file }, signal);
  expect((await stat(file)).size).toBe(0);
});
