import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";

const program = join(import.meta.dirname, "../../playground/testing/largeDump.ts");

/** Dumps a database of this size in a separate process. Returns the process's memory in megabytes. */
async function memoryFor(megabytes: number): Promise<number> {
  const child = spawn(process.execPath, ["--max-old-space-size=48", program, String(megabytes)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const messages: unknown[] = [];
  child.on("message", (message) => messages.push(message));
  expect(await once(child, "exit")).toEqual([0, null]);
  return Number(messages[0]);
}

test("dumping a table that is larger than memory needs no more memory than a small one", async () => {
  const small = await memoryFor(48);
  expect(await memoryFor(248)).toBeLessThan(small + 100);
});
