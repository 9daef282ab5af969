/** Starts a real Chromium, from the system's package. */
import { type Browser, chromium } from "playwright-core";

/** Chromium as root needs `--no-sandbox`; the other switches prevent background work and requests to the internet. */
const switches = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: switches,
  });
}
