/** The main module of a thread that compares two pictures: to read them takes longer than others should wait for us. */
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import type { TwoPictures } from "./difference.ts";

/** Of one that is smaller than the other, what it has not is different. */
function share({ before, after }: TwoPictures): number {
  const [one, other] = [PNG.sync.read(readFileSync(before)), PNG.sync.read(readFileSync(after))];
  if (one.width !== other.width || one.height !== other.height) return 1;
  // Edges of letters are not the same twice.
  const different = pixelmatch(one.data, other.data, undefined, one.width, one.height, { threshold: 0.1 });
  return different / (one.width * one.height);
}

parentPort?.postMessage(share(workerData));
