import { expect, test } from "vitest";
import { seededRandom } from "./random.ts";
import { sectorBytes, VolatileDisk } from "./volatileDisk.ts";

const sectors = 64;

const sectorOf = (letter: string) => Buffer.alloc(sectorBytes, letter);
const diskOf = (letter: string) => new VolatileDisk(Buffer.alloc(sectors * sectorBytes, letter));
const contentOf = (disk: VolatileDisk) =>
  Array.from({ length: sectors }, (_, index) =>
    disk.read(index * sectorBytes, 1 * sectorBytes).toString("latin1", 0, 1),
  );

test("reads return all written data, flushed or not", () => {
  const disk = diskOf("a");
  disk.write(sectorBytes, sectorOf("b"));
  expect(contentOf(disk).slice(0, 3)).toEqual(["a", "b", "a"]);
  disk.flush();
  expect(contentOf(disk).slice(0, 3)).toEqual(["a", "b", "a"]);
});

test("a power cut keeps flushed data, and may lose later writes", () => {
  const disk = diskOf("a");
  disk.write(0, sectorOf("b"));
  disk.flush();
  disk.write(0, sectorOf("c"));
  disk.write(sectorBytes, sectorOf("c"));
  expect(disk.cutPower(0, seededRandom(1))).toEqual({ unflushedSectors: 2, lostSectors: 2 });
  expect(contentOf(disk).slice(0, 2)).toEqual(["b", "a"]);
});

test("a power cut keeps any part of a large write, and any of several versions", () => {
  const disk = diskOf("a");
  for (const letter of ["b", "c"]) disk.write(0, Buffer.alloc(sectors * sectorBytes, letter));
  const { unflushedSectors, lostSectors } = disk.cutPower(0.7, seededRandom(1));
  expect(unflushedSectors).toBe(sectors);
  expect(new Set(contentOf(disk))).toEqual(new Set(["a", "b", "c"]));
  expect(contentOf(disk).filter((letter) => letter !== "c")).toHaveLength(lostSectors);
});

test("a write through the cache lasts, and other writes still need a flush", () => {
  const disk = diskOf("a");
  disk.write(0, sectorOf("b"));
  disk.writeThrough(sectorBytes, sectorOf("c"));
  disk.cutPower(0, seededRandom(1));
  expect(contentOf(disk).slice(0, 2)).toEqual(["a", "c"]);
});
