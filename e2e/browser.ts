/** A real Chromium, from the system's package. */
import { type Browser, chromium } from "playwright-core";

/** As root, and without a network beyond this machine, Chromium needs to be told to keep to itself. */
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
