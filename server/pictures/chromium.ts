/**
 * A picture of a page, by the system's Chromium. What is in the page is somebody else's, so the browser is given as little as it
 * can do with: it reaches nothing but our proxy, which lets pages run no scripts, and where we are root it is a user of its own, without
 * anything that belongs to anybody.
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

/** Below those of environments, which start at 200,001. */
const owner = 199_999;

/** Of folders in which pictures are taken. Not in the data folder, which is ours alone. */
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
  // Names that end in localhost would not go through a proxy otherwise.
  "--proxy-bypass-list=<-loopback>",
];

/** Longer than is waited for what a page consists of, where that can't be had for a moment. */
const patienceMilliseconds = 120_000;
const mostSaid = 500;

/** Null: the machine has none. `wanted` null: in one of the usual places. */
export async function findChromium(wanted: string | null): Promise<string | null> {
  for (const place of wanted === null ? usualPlaces : [wanted]) {
    const isThere = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return place;
  }
  return null;
}

export interface Shot {
  readonly chromium: string;
  /** `http://demo.localhost:8081/`. */
  readonly url: string;
  readonly proxyPort: number;
  /** New PNG of 1280 by 1600 points. */
  readonly file: string;
}

/** Rejects if no picture came of it. */
export async function takePicture({ chromium, url, proxyPort, file }: Shot, signal: AbortSignal): Promise<void> {
  const place = await mkdtemp(path.join(tmpdir(), prefix));
  const isRoot = process.getuid?.() === 0;
  try {
    if (isRoot) await chown(place, owner, owner);
    const picture = path.join(place, "picture.png");
    const parameters = [
      ...switches,
      `--proxy-server=http://127.0.0.1:${proxyPort}`,
      `--user-data-dir=${path.join(place, "profile")}`,
      `--screenshot=${picture}`,
      url,
    ];
    const env = { HOME: place, TMPDIR: place, PATH: process.env.PATH };
    await run(chromium, parameters, { env, cwd: place, ...(isRoot && { uid: owner, gid: owner }) }, signal);
    await copyFile(picture, file);
  } finally {
    await rm(place, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Removes what processes that were killed have left, of pictures that were begun before that time. */
export async function removeLeftPictures(before: Date, folder = tmpdir()): Promise<void> {
  // Anybody may have a folder of that name there.
  const ours = process.getuid?.() === 0 ? [0, owner] : [process.getuid?.()];
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue;
    const place = path.join(folder, name);
    const facts = await lstat(place).catch(() => null);
    if (!facts?.isDirectory() || !ours.includes(facts.uid) || facts.mtime >= before) continue;
    await rm(place, { recursive: true, force: true, maxRetries: 10 });
  }
}

interface SpawnOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly uid?: number;
  readonly gid?: number;
}

/** The browser starts processes of its own: all of them end. */
async function run(program: string, parameters: string[], options: SpawnOptions, signal: AbortSignal): Promise<void> {
  const child = spawn(program, parameters, { ...options, detached: true, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-mostSaid);
  });
  const stop = new AbortController();
  const ended = new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`Chromium ended with ${code}: ${said}`))));
  });
  const patience = AbortSignal.any([signal, stop.signal]);
  const late = delay(patienceMilliseconds, undefined, { signal: patience }).then(() => {
    throw new Error(`Chromium took longer than ${patienceMilliseconds / 1_000} seconds: ${said}`);
  });
  try {
    await Promise.race([ended, late]);
  } finally {
    stop.abort();
    late.catch(() => undefined);
    ended.catch(() => undefined);
    endGroup(child.pid);
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
