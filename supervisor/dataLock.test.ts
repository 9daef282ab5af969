import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { lockData } from "./dataLock.ts";
import { testFolder } from "./testing/folder.ts";

test("a second lock on a data folder fails with the holder's process id", () => {
  const data = testFolder();
  const lock = lockData(data);
  expect(() => lockData(data)).toThrow(`Sitewright is already running on ${data} (process ${process.pid}).`);
  lock.release();
  lockData(data).release();
});

test("a lock file alone is not a lock", () => {
  const data = testFolder();
  writeFileSync(join(data, "supervisor.lock"), `${process.pid}\n`);
  lockData(data).release();
});

test("killing the holder releases the lock", async () => {
  const data = testFolder();
  const module = JSON.stringify(join(import.meta.dirname, "dataLock.ts"));
  const script = `const { lockData } = await import(${module}); lockData(${JSON.stringify(data)}); console.log("held"); setInterval(() => 0, 1000);`;
  const holder = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => createInterface({ input: holder.stdout }).once("line", resolve));
  expect(() => lockData(data)).toThrow(`(process ${holder.pid})`);
  const ended = new Promise((resolve) => holder.once("exit", resolve));
  holder.kill("SIGKILL");
  await ended;
  lockData(data).release();
});
