/** Conformance tests for every implementation of `Blobs`. */
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { BlobMissing, type Blobs } from "../blobs.ts";

const { signal } = new AbortController();

export function testBlobs(name: string, open: () => Promise<Blobs>): void {
  describe(`blobs in ${name}`, () => {
    test("can be read back completely and in parts", async () => {
      const blobs = await open();
      const content = randomBytes(3_000_000);
      await blobs.put("packs/company/one", content, signal);
      expect((await blobs.read("packs/company/one", 0, content.length, signal)).equals(content)).toBe(true);
      const part = await blobs.read("packs/company/one", 1_000_000, 500_000, signal);
      expect(part.equals(content.subarray(1_000_000, 1_500_000))).toBe(true);
    });

    test("can be put from a part of shared memory", async () => {
      const blobs = await open();
      const shared = Buffer.from(new SharedArrayBuffer(200_000), 10, 150_000);
      shared.set(randomBytes(shared.length));
      await blobs.put("packs/one", shared, signal);
      expect((await blobs.read("packs/one", 0, shared.length, signal)).equals(shared)).toBe(true);
      expect(await blobs.list("packs", signal)).toEqual(new Map([["packs/one", shared.length]]));
    });

    test("are replaced under the same name", async () => {
      const blobs = await open();
      for (const text of ["first", "second one"]) await blobs.put("packs/one", Buffer.from(text), signal);
      expect((await blobs.read("packs/one", 0, 10, signal)).toString()).toBe("second one");
      expect(await blobs.list("packs", signal)).toEqual(new Map([["packs/one", 10]]));
    });

    test("are missing if they don't exist or are too short", async () => {
      const blobs = await open();
      await blobs.put("packs/one", Buffer.from("abc"), signal);
      for (const [missing, start, length] of [
        ["packs/two", 0, 1],
        ["packs/one", 0, 4],
        ["packs/one", 3, 1],
      ] as const) {
        await expect(blobs.read(missing, start, length, signal)).rejects.toBeInstanceOf(BlobMissing);
      }
    });

    test("are listed by folder with their sizes", async () => {
      const blobs = await open();
      expect(await blobs.list("packs", signal)).toEqual(new Map());
      for (const name of ["packs/a/one", "packs/a/two", "packs/ab/one"])
        await blobs.put(name, Buffer.from(name), signal);
      expect(await blobs.list("packs/a", signal)).toEqual(
        new Map([
          ["packs/a/one", 11],
          ["packs/a/two", 11],
        ]),
      );
      expect((await blobs.list("packs", signal)).size).toBe(3);
    });

    test("can be removed, even twice", async () => {
      const blobs = await open();
      await blobs.put("packs/one", Buffer.from("abc"), signal);
      for (let time = 0; time < 2; time += 1) await blobs.remove("packs/one");
      expect(await blobs.list("packs", signal)).toEqual(new Map());
      await expect(blobs.read("packs/one", 0, 1, signal)).rejects.toBeInstanceOf(BlobMissing);
    });

    test("are not replaced by an aborted put", async () => {
      const blobs = await open();
      await blobs.put("packs/one", Buffer.from("before"), signal);
      await expect(blobs.put("packs/one", Buffer.from("after!"), AbortSignal.abort())).rejects.toThrow();
      expect((await blobs.read("packs/one", 0, 6, signal)).toString()).toBe("before");
      expect([...(await blobs.list("packs", signal)).keys()]).toEqual(["packs/one"]);
    });

    test.each(["../x", "a/../../b", "/etc/x", "a//b", "a.b", "", "a/"])("can't have the name %j", async (bad) => {
      const blobs = await open();
      await expect(blobs.put(bad, Buffer.from("x"), signal)).rejects.toThrow("Invalid blob name");
      await expect(blobs.remove(bad).then(() => undefined)).rejects.toThrow("Invalid blob name");
    });
  });
}
