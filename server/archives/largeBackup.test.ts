import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";

const program = join(import.meta.dirname, "testing", "largeBackup.ts");

/** Peak memory in megabytes of backing up and restoring a file of this size. */
async function memoryFor(megabytes: number): Promise<number> {
  const child = spawn(process.execPath, ["--max-old-space-size=48", program, String(megabytes)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const messages: unknown[] = [];
  child.on("message", (message) => messages.push(message));
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(messages).toEqual([expect.any(Number)]);
  return Number(messages[0]);
}

test("backing up and restoring a large database takes no more memory than a small one", async () => {
  // Large enough that all reused buffers are allocated.
  const usual = await memoryFor(64);
  expect(await memoryFor(400)).toBeLessThan(usual + 100);
});
