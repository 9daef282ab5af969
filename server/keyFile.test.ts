import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { addKey, openKeySource, openKeys, readKeySource, removeKeysBefore } from "./keyFile.ts";
import { makeSealer, openSealer } from "./sealing.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "swkeys-"));
  file = join(folder, "secrets", "key");
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe("the key file", () => {
  test("is created once, readable only by its owner, even by many processes at a time", async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => openKeys(file)));
    expect(new Set(all.map(([newest]) => newest.bytes.toString("hex"))).size).toBe(1);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, "secrets"))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(folder, "secrets"))).toEqual(["key"]);
  });

  test.each(["short", "", "\n"])("is never replaced: %j is an error that says what to do", async (content) => {
    const broken = join(folder, "key");
    await writeFile(broken, content);
    await expect(openKeys(broken)).rejects.toThrow("Put the right file back");
    expect(await readFile(broken, "utf8")).toBe(content);
  });

  test("can be one that an earlier version has made", async () => {
    const old = join(folder, "key");
    await writeFile(old, `${Buffer.alloc(32, 7).toString("base64")}\n`);
    expect(await openKeys(old)).toMatchObject([{ bytes: Buffer.alloc(32, 7), madeAt: null }]);
  });

  test("is missing for a reader that must not create it", () => {
    expect(readKeySource(file)).toBeNull();
  });
});

describe("a new key", () => {
  test("is used at once by processes that have opened the file, next to the old one", async () => {
    const keys = await openKeySource(file);
    const sealer = await openSealer(file);
    const before = sealer.seal("hush", "one");
    const old = keys.newest();
    await addKey(file);
    expect(keys.newest().bytes).not.toEqual(old.bytes);
    expect(keys.all()[1]).toEqual(old);
    expect(sealer.isCurrent(before)).toBe(false);
    expect(sealer.open(before, "one")).toBe("hush");
    const after = sealer.seal("hush", "one");
    expect(sealer.isCurrent(after)).toBe(true);
    await removeKeysBefore(file, keys.newest());
    expect(sealer.open(after, "one")).toBe("hush");
    expect(() => sealer.open(before, "one")).toThrow("is not in the key file");
  });

  test("leaves text readable that an earlier version has sealed without the key's id", async () => {
    await openKeys(file);
    await writeFile(file, `${Buffer.alloc(32, 7).toString("base64")}\n`);
    const sealed = makeSealer(Buffer.alloc(32, 7)).seal("hush", "one").subarray(12);
    await addKey(file);
    const sealer = await openSealer(file);
    expect(sealer.open(sealed, "one")).toBe("hush");
    expect(sealer.isCurrent(sealed)).toBe(false);
  });

  test("keeps the last keys while the file is away", async () => {
    const sealer = await openSealer(file);
    const sealed = sealer.seal("hush", "one");
    await rm(file);
    expect(sealer.open(sealed, "one")).toBe("hush");
  });
});
