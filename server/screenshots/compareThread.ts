/** Worker thread that compares two screenshots: decoding them would block the main thread for too long. */
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import type { ScreenshotPair } from "./compareScreenshots.ts";

/** Screenshots of different sizes differ completely. */
function share({ before, after }: ScreenshotPair): number {
  const [one, other] = [PNG.sync.read(readFileSync(before)), PNG.sync.read(readFileSync(after))];
  if (one.width !== other.width || one.height !== other.height) return 1;
  // Tolerates differences in the anti-aliasing of text.
  const different = pixelmatch(one.data, other.data, undefined, one.width, one.height, { threshold: 0.1 });
  return different / (one.width * one.height);
}

parentPort?.postMessage(share(workerData));
