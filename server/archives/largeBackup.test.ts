import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";

const program = join(import.meta.dirname, "testing", "largeBackup.ts");

test("a database that is larger than memory is kept and comes back", async () => {
  const megabytes = 400;
  const child = spawn(process.execPath, ["--max-old-space-size=48", program, String(megabytes)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const said: unknown[] = [];
  child.on("message", (message) => said.push(message));
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(said).toEqual([expect.any(Number)]);
  expect(Number(said[0])).toBeLessThan(megabytes);
});
