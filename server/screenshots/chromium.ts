/**
 * Takes screenshots of pages with the system's Chromium. Page content is not trusted, so the browser gets few permissions: it
 * can reach only our proxy, which blocks scripts, and if we are root it runs as a separate user who owns nothing.
 */
import { spawn } from "node:child_process";
import { access, chown, constants, copyFile, lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const usualPlaces = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** User id of the browser. Below those of environments, which start at 200,001. */
const browserUser = 199_999;

/** Prefix of temporary folders for screenshots. Not in the data folder, which other users can't enter. */
const prefix = "sitewright-picture-";

const switches = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--disable-extensions",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--mute-audio",
  "--hide-scrollbars",
  "--disable-lcd-text",
  "--force-color-profile=srgb",
  "--window-size=1280,1600",
  // Otherwise names that end in localhost would bypass the proxy.
  "--proxy-bypass-list=<-loopback>",
];

/** Longer than the retries for the resources of a page. */
const timeoutMilliseconds = 120_000;
const maxErrorLength = 500;

/** Returns the path of Chromium, or null if there is none. `wanted` null: looks in the usual places. */
export async function findChromium(wanted: string | null): Promise<string | null> {
  for (const place of wanted === null ? usualPlaces : [wanted]) {
    const isExecutable = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return place;
  }
  return null;
}

interface Shot {
  readonly chromium: string;
  /** `http://demo.localhost:8081/`. */
  readonly url: string;
  readonly proxyPort: number;
  /** Path of the new PNG of 1280 × 1600 pixels. */
  readonly file: string;
}

/** Rejects if the screenshot could not be taken. */
export async function takeScreenshot({ chromium, url, proxyPort, file }: Shot, signal: AbortSignal): Promise<void> {
  const place = await mkdtemp(path.join(tmpdir(), prefix));
  const isRoot = process.getuid?.() === 0;
  try {
    if (isRoot) await chown(place, browserUser, browserUser);
    const screenshot = path.join(place, "picture.png");
    const parameters = [
      ...switches,
      `--proxy-server=http://127.0.0.1:${proxyPort}`,
      `--user-data-dir=${path.join(place, "profile")}`,
      `--screenshot=${screenshot}`,
      url,
    ];
    const env = { HOME: place, TMPDIR: place, PATH: process.env.PATH };
    await run(chromium, parameters, { env, cwd: place, ...(isRoot && { uid: browserUser, gid: browserUser }) }, signal);
    await copyFile(screenshot, file);
  } finally {
    await rm(place, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Removes temporary folders of killed processes that are older than `before`. */
export async function removeLeftoverScreenshots(before: Date, folder = tmpdir()): Promise<void> {
  // Other users may have folders with this prefix.
  const ourUsers = process.getuid?.() === 0 ? [0, browserUser] : [process.getuid?.()];
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue;
    const place = path.join(folder, name);
    const facts = await lstat(place).catch(() => null);
    if (!facts?.isDirectory() || !ourUsers.includes(facts.uid) || facts.mtime >= before) continue;
    await rm(place, { recursive: true, force: true, maxRetries: 10 });
  }
}

interface SpawnOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly uid?: number;
  readonly gid?: number;
}

/** Runs the program, and kills its whole process group at the end. */
async function run(program: string, parameters: string[], options: SpawnOptions, signal: AbortSignal): Promise<void> {
  const child = spawn(program, parameters, { ...options, detached: true, stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-maxErrorLength);
  });
  const stop = new AbortController();
  const ended = new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`Chromium ended with ${code}: ${errors}`))));
  });
  const stopTimer = AbortSignal.any([signal, stop.signal]);
  const timedOut = delay(timeoutMilliseconds, undefined, { signal: stopTimer }).then(() => {
    throw new Error(`Chromium took longer than ${timeoutMilliseconds / 1_000} seconds: ${errors}`);
  });
  try {
    await Promise.race([ended, timedOut]);
  } finally {
    stop.abort();
    timedOut.catch(() => undefined);
    ended.catch(() => undefined);
    killGroup(child.pid);
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
