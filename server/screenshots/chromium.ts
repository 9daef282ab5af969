/**
 * Takes screenshots of pages with the system's Chromium. Page content is not trusted, so the browser gets few permissions: it
 * runs in Chromium's sandbox wherever the system allows that, can reach only our proxy, which blocks scripts, and if we are
 * root it is a user who owns nothing.
 */
import { access, constants } from "node:fs/promises";
import path from "node:path";
import { makeMachineTrial } from "@sitewright/runtimes/machineTrial.ts";
import { copyFromBrowser, withBrowserPlace } from "./browserPlace.ts";
import { runBrowser } from "./browserProcess.ts";

const usualPlaces = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

const switches = [
  "--headless=new",
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
  // The proxy resolves names. Nothing else may be reached, by DNS or without the proxy.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
];

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

const sandboxes = new Map<string, () => Promise<boolean>>();

/** Whether this Chromium's sandbox works here. It needs user namespaces, which containers and some systems forbid. */
export function hasSandbox(chromium: string): Promise<boolean> {
  const find =
    sandboxes.get(chromium) ?? makeMachineTrial({ tryOut: () => tryOutSandbox(chromium), isSuccess: (works) => works });
  sandboxes.set(chromium, find);
  return find();
}

function tryOutSandbox(chromium: string): Promise<boolean> {
  return withBrowserPlace(async (place) => {
    const profile = `--user-data-dir=${path.join(place.folder, "profile")}`;
    const parameters = [...switches, profile, "--dump-dom", "about:blank"];
    const output = await runBrowser(chromium, parameters, place, new AbortController().signal).catch(() => "");
    return output.includes("<html>");
  });
}

interface Shot {
  readonly chromium: string;
  /** `http://demo.localhost:8081/`. */
  readonly url: string;
  readonly proxyPort: number;
  /** Path of the new PNG of 1280 × 1600 pixels. */
  readonly file: string;
}

const pictureName = "picture.png";

/** Rejects if the screenshot could not be taken. */
export async function takeScreenshot({ chromium, url, proxyPort, file }: Shot, signal: AbortSignal): Promise<void> {
  const sandbox = (await hasSandbox(chromium)) ? [] : ["--no-sandbox"];
  await withBrowserPlace(async (place) => {
    const parameters = [
      ...switches,
      ...sandbox,
      `--proxy-server=http://127.0.0.1:${proxyPort}`,
      `--user-data-dir=${path.join(place.folder, "profile")}`,
      `--screenshot=${path.join(place.folder, pictureName)}`,
      url,
    ];
    await runBrowser(chromium, parameters, place, signal);
    await copyFromBrowser(place, pictureName, file);
  }, signal);
}
