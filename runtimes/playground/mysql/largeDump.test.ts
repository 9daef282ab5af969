import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";

const program = join(import.meta.dirname, "..", "testing", "largeDump.ts");

/** In megabytes. */
async function memoryFor(megabytes: number): Promise<number> {
  const child = spawn(process.execPath, ["--max-old-space-size=48", program, String(megabytes)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const said: unknown[] = [];
  child.on("message", (message) => said.push(message));
  expect(await once(child, "exit")).toEqual([0, null]);
  return Number(said[0]);
}

test("a table that is larger than memory is written as SQL with as little memory as a small one", async () => {
  const small = await memoryFor(48);
  expect(await memoryFor(248)).toBeLessThan(small + 100);
});
