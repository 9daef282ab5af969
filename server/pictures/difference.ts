/** How much two pictures differ, as people see it. */
import { Worker } from "node:worker_threads";

/** Files, in PNG. */
export interface TwoPictures {
  readonly before: string;
  readonly after: string;
}

/** From 0 to 1: the share of the picture that is another. Rejects if one of them is no picture. */
export async function differenceOf(pictures: TwoPictures): Promise<number> {
  const worker = new Worker(new URL("./differenceThread.ts", import.meta.url), { workerData: pictures });
  try {
    return await new Promise<number>((resolve, reject) => {
      worker.on("message", (share: number) => resolve(share));
      worker.on("error", reject);
      worker.on("exit", () => reject(new Error("The comparison of two pictures ended without an answer")));
    });
  } finally {
    await worker.terminate();
  }
}
