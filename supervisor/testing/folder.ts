import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates a temporary folder for one test with mode 700. It is kept if the test fails. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sw-sup-"));
  onTestFinished(({ task }) => {
    if (task.result?.state !== "fail") {
      // Processes that the test killed may still be writing.
      rmSync(folder, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 });
    }
  });
  return folder;
}
