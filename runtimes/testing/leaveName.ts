/** A job for tests: creates a file named after its process id, waits for the file `after`, and returns `comesTo`. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { exists } from "../folders.ts";
import { serveJob } from "../job.ts";

export interface LeaveName {
  readonly folder: string;
  readonly comesTo: string;
  /** Path of the file to wait for. */
  readonly after: string;
}

if (import.meta.main) {
  serveJob(async ({ folder, comesTo, after }: LeaveName) => {
    await writeFile(path.join(folder, String(process.pid)), "");
    while (!(await exists(after))) await delay(5);
    return comesTo;
  });
}
