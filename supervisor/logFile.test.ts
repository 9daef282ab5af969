import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLog } from "./logFile.ts";
import { testFolder } from "./testing/folder.ts";

test("appends to an existing log, which only its owner can read", () => {
  const path = join(testFolder(), "logs", "control.log");
  for (const line of ["first", "second"]) {
    const log = openLog(path);
    log.write(line);
    log.close();
  }
  expect(readFileSync(path, "utf8")).toBe("first\nsecond\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("rotation limits the size and drops the oldest lines", () => {
  const path = join(testFolder(), "edge.log");
  const log = openLog(path, { bytes: 100, older: 2 });
  for (let line = 0; line < 200; line++) {
    log.write(`line ${line}`);
  }
  log.close();
  const kept = [`${path}.2`, `${path}.1`, path].map((file) => readFileSync(file, "utf8"));
  expect(existsSync(`${path}.3`)).toBe(false);
  expect(kept.every((text) => text.length <= 110)).toBe(true);
  const lines = kept.join("").trim().split("\n");
  expect(lines.at(-1)).toBe("line 199");
  expect(lines).toEqual(lines.map((_, index) => `line ${200 - lines.length + index}`));
});

test("drops lines that can't be written", () => {
  const log = openLog(join(testFolder(), "control.log"));
  log.close();
  expect(() => log.write("too late")).not.toThrow();
});
