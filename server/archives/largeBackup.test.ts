import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";

const program = join(import.meta.dirname, "testing", "largeBackup.ts");

/** That it takes to keep a file of so many megabytes and to restore it; in megabytes too. */
async function memoryFor(megabytes: number): Promise<number> {
  const child = spawn(process.execPath, ["--max-old-space-size=48", program, String(megabytes)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const said: unknown[] = [];
  child.on("message", (message) => said.push(message));
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(said).toEqual([expect.any(Number)]);
  return Number(said[0]);
}

test("a database that is larger than memory is kept and comes back, and takes no more of it than one that is not", async () => {
  // With this one everything is in use that is used again and again.
  const usual = await memoryFor(64);
  expect(await memoryFor(400)).toBeLessThan(usual + 100);
});
