import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { removeRunFolder } from "./runFolder.ts";
import { testFolder } from "./testing/folder.ts";

test.each(["postgres", "native-edge", "native-control"])(
  "the folder is removed with what a stop leaves in %s",
  (name) => {
    const run = join(testFolder(), "run");
    mkdirSync(join(run, name, "hosts"), { recursive: true });
    writeFileSync(join(run, name, "hosts", "environment"), "");
    removeRunFolder(run);
    expect(existsSync(run)).toBe(false);
  },
);

test("files of the operator stay", () => {
  const run = testFolder();
  writeFileSync(join(run, "notes"), "");
  removeRunFolder(run);
  expect(existsSync(join(run, "notes"))).toBe(true);
});
