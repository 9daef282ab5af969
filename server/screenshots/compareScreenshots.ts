/** Measures the visual difference of two screenshots. */
import { Worker } from "node:worker_threads";

/** Paths of PNG files. */
export interface ScreenshotPair {
  readonly before: string;
  readonly after: string;
}

/** Returns the fraction of pixels that differ, from 0 to 1. Rejects if a file is not a PNG. */
export async function compareScreenshots(screenshots: ScreenshotPair): Promise<number> {
  const worker = new Worker(new URL("./compareThread.ts", import.meta.url), { workerData: screenshots });
  try {
    return await new Promise<number>((resolve, reject) => {
      worker.on("message", (share: number) => resolve(share));
      worker.on("error", reject);
      worker.on("exit", () => reject(new Error("The comparison of two screenshots ended without a result")));
    });
  } finally {
    await worker.terminate();
  }
}
