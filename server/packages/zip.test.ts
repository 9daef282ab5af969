import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { pluginZip, withText, zipOf } from "./testing/zips.ts";
import { BadZip, defaultZipLimits, unpackZip } from "./zip.ts";

const { signal } = new AbortController();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "zip-"));
  onTestFinished(() => rm(folder, { recursive: true }));
});

async function unpack(zip: Buffer, slug = "shop", limits = defaultZipLimits): Promise<string> {
  const file = path.join(folder, "package.zip");
  await writeFile(file, zip);
  const target = path.join(folder, "unpacked");
  await unpackZip(file, slug, target, signal, limits);
  return target;
}

test("a zip is unpacked without its root folder", async () => {
  const picture = randomBytes(3_000_000);
  const zip = await pluginZip("shop", "1.0", "", {
    "img/a.png": { content: picture },
    "empty/": "",
    "run.sh": { content: "", mode: 0o104755 },
  });
  const target = await unpack(zip);
  expect((await readdir(target, { recursive: true })).toSorted()).toEqual([
    "empty",
    "img",
    "img/a.png",
    "run.sh",
    "shop.php",
  ]);
  expect((await readFile(path.join(target, "img/a.png"))).equals(picture)).toBe(true);
  expect((await stat(path.join(target, "run.sh"))).mode & 0o7777).toBe(0o644);
});

describe("nothing is written outside the target, and these are refused:", () => {
  const link = { content: "/etc/passwd", mode: 0o120777 };
  const cases: [what: string, zip: () => Promise<Buffer>, says: string][] = [
    [
      "one with ..",
      async () => withText(await zipOf({ "shop/xx/evil.php": "" }), "shop/xx/evil.php", "shop/../evil.php"),
      "leads outside",
    ],
    [
      "one with an absolute path",
      async () => withText(await zipOf({ "xshop/evil.php": "" }), "xshop/evil.php", "/shop/evil.php"),
      "leads outside",
    ],
    [
      "one with a backslash",
      async () => withText(await zipOf({ "shop/x/evil.php": "" }), "shop/x/evil.php", "shop/x\\evil.php"),
      "leads outside",
    ],
    [
      "one with a drive",
      async () => withText(await zipOf({ "shop/cx/evil.php": "" }), "shop/cx/evil.php", "shop/c:/evil.php"),
      "not a valid path",
    ],
    [
      "one with a symbolic link",
      () => zipOf({ "shop/shop.php": "", "shop/link": link }),
      "neither a file nor a folder",
    ],
    [
      "one with a device",
      () => zipOf({ "shop/shop.php": "", "shop/null": { content: "", mode: 0o020666 } }),
      "neither a file nor a folder",
    ],
    ["another package", () => pluginZip("other", "1.0"), 'it contains "other" instead of shop'],
    ["one with two folders", () => zipOf({ "shop/shop.php": "", "other/x.php": "" }), "single folder"],
    ["one with a file next to the folder", () => zipOf({ "shop/shop.php": "", "x.php": "" }), "single folder"],
    ["an empty one", () => zipOf({}), "single folder"],
    ["one with a file in a file", () => zipOf({ "shop/a": "", "shop/a/b": "" }), "is inside a file"],
    ["one with a duplicate file", () => zipOf({ "shop/a.php": "1", "shop/A.php": "2" }), "twice"],
    ["a web page", async () => Buffer.from("<!doctype html><title>Not found</title>"), "not a zip"],
    [
      "a truncated one",
      async () => (await pluginZip("shop", "1.0", "", { x: { content: randomBytes(9_999) } })).subarray(0, 5_000),
      "not a zip",
    ],
    ["an empty file", async () => Buffer.alloc(0), "not a zip"],
  ];

  test.each(cases)("%s", async (_, zip, says) => {
    await expect(unpack(await zip())).rejects.toThrow(says);
    expect((await readdir(folder, { recursive: true })).filter((name) => !name.startsWith("unpacked"))).toEqual([
      "package.zip",
    ]);
  });

  test("one with a flipped bit", async () => {
    const content = randomBytes(50_000);
    const zip = await zipOf({ "shop/a.bin": { content } });
    const at = zip.indexOf(content.subarray(20_000, 20_016));
    expect(at).toBeGreaterThan(0);
    zip[at] = (zip[at] ?? 0) ^ 4;
    await expect(unpack(zip)).rejects.toThrow(BadZip);
  });

  test("one that is too large when unpacked, or has too many files", async () => {
    const zip = await pluginZip("shop", "1.0", "", { a: "x".repeat(10_000), b: "x".repeat(10_000) });
    await expect(unpack(zip, "shop", { entries: 10, bytes: 15_000 })).rejects.toThrow("when unpacked");
    await expect(unpack(zip, "shop", { entries: 2, bytes: 1e6 })).rejects.toThrow("more than 2 files");
  });

  test("one that is larger than it declares", async () => {
    const zip = await zipOf({ "shop/a": "x".repeat(100_000) });
    const size = Buffer.alloc(4);
    size.writeUInt32LE(100_000);
    const small = Buffer.alloc(4);
    small.writeUInt32LE(10);
    const lying = withText(zip, size.toString("latin1"), small.toString("latin1"));
    await expect(unpack(lying)).rejects.toThrow(BadZip);
  });
});
