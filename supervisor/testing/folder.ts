import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder for one test that only its maker may enter, as `mktemp -d` makes it. Kept where the test fails. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sw-sup-"));
  onTestFinished(({ task }) => {
    if (task.result?.state !== "fail") {
      // What a test killed may still be writing its last words.
      rmSync(folder, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 });
    }
  });
  return folder;
}
