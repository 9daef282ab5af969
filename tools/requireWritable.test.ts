import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { requireWritable } from "./requireWritable.ts";

const root = join(import.meta.dirname, "..");

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sw-writable-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("npm test in a clone of another user says what to do, and starts nothing", () => {
  const modules = join(root, "node_modules");
  const preload = join(temporaryFolder(), "readOnly.cjs");
  // Simulated, because root can write everywhere.
  writeFileSync(
    preload,
    `const fs = require("node:fs");
     fs.accessSync = (path) => { if (path === ${JSON.stringify(modules)}) throw new Error("EACCES"); };
     require("node:module").syncBuiltinESMExports();`,
  );
  const parameters = ["--require", preload, join(root, "tools", "test.ts"), "no/such/test"];
  const { status, stdout, stderr } = spawnSync(process.execPath, parameters, { encoding: "utf8" });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: "",
    stderr: `The tests can't write to ${modules}: run them as the clone's owner, or in a clone of your own.\n`,
  });
});

test("folders that the tests will create may be missing", () => {
  expect(() => requireWritable(temporaryFolder())).not.toThrow();
});
