import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeDurableFile } from "./durableFile.ts";
import { makeSealer } from "./sealing.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "swsealing-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe("a sealer", () => {
  const sealer = makeSealer(Buffer.alloc(32, 7));

  test.each(["", "hush", `"><script> ' $ \\ \0 😀 \u202e`, "x".repeat(100_000)])("opens what it has sealed", (text) => {
    expect(sealer.open(sealer.seal(text, "one"), "one")).toBe(text);
  });

  test("seals the same text differently each time", () => {
    const [first, second] = [sealer.seal("open sesame", "one"), sealer.seal("open sesame", "one")];
    expect(first.equals(second)).toBe(false);
    expect(first.includes("sesame")).toBe(false);
  });

  test("does not open text that was sealed for another purpose, with another key, or was changed", () => {
    const sealed = sealer.seal("hush", "one");
    expect(() => sealer.open(sealed, "two")).toThrow();
    expect(() => makeSealer(Buffer.alloc(32, 8)).open(sealed, "one")).toThrow();
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => sealer.open(changed, "one")).toThrow();
    }
    expect(() => sealer.open(Buffer.alloc(0), "one")).toThrow();
  });

  test("requires a key of the right length", () => {
    expect(() => makeSealer(Buffer.alloc(16))).toThrow("32 bytes");
  });
});

describe("a durable file", () => {
  test("is written atomically with its mode, and leaves no temporary files", async () => {
    const file = join(folder, "deep", "file.json");
    await Promise.all(Array.from({ length: 20 }, (_, index) => writeDurableFile(file, String(index).repeat(10_000))));
    const text = await readFile(file, "utf8");
    expect(new Set(text.match(/../g)).size).toBe(1);
    expect(await readdir(join(folder, "deep"))).toEqual(["file.json"]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test("is unchanged if writing fails", async () => {
    const file = join(folder, "file");
    await writeDurableFile(file, "old");
    await expect(writeDurableFile(join(file, "below"), "new")).rejects.toThrow();
    expect(await readFile(file, "utf8")).toBe("old");
    expect(await readdir(folder)).toEqual(["file"]);
  });
});
