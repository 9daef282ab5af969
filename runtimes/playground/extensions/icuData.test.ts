import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { icuDataFile } from "../php/build.ts";
import { splitIcuData } from "./icuData.ts";

test("ICU's data is split into all of its files, which are complete", () => {
  const data = readFileSync(icuDataFile());
  const files = splitIcuData(data);
  const names = files.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["icudt74l/de.res", "icudt74l/coll/sv.res", "icudt74l/uts46.nrm"]));
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !/^icudt\d+l\/[\w/.-]+$/.test(name) || name.includes(".."))).toEqual([]);
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
  expect(data.length - bytes).toBeLessThan(200_000);
  // Each begins with a header, whose length and magic number come first.
  expect(files.filter(({ content }) => content.readUInt16LE(2) !== 0x27da)).toEqual([]);
});

test("other files are refused", () => {
  expect(() => splitIcuData(Buffer.alloc(1000))).toThrow("unknown format");
});
