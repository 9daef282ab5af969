import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { type FileEntry, readManifest, writeManifest } from "./manifest.ts";
import { pieceBytes } from "./pieceBox.ts";

function file(path: string, pieces = 1): FileEntry {
  const names = Array.from({ length: pieces }, () => randomBytes(32));
  return {
    path,
    mode: 0o644,
    bytes: pieces * 10,
    modified: 1_700_000_000_123_456_789n,
    inode: 2n ** 60n,
    pieces: names,
  };
}

test("a manifest is read as it was written, with any file names", () => {
  const folders = [
    { path: "public", mode: 0o755 },
    { path: "public/new\nline", mode: 0o700 },
  ];
  const names = ["public/a.txt", 'public/"quoted"\t', Buffer.from("grüße 🌱").toString("latin1"), "\xff\xfe"];
  const files = [...names.map((name) => file(name)), file("empty", 0), file("large", 50)];
  expect(readManifest([...writeManifest({ folders, files })])).toEqual({ folders, files });
});

test("the manifest of an empty tree is empty", () => {
  expect([...writeManifest({ folders: [], files: [] })]).toEqual([]);
  expect(readManifest([])).toEqual({ folders: [], files: [] });
});

test("pieces never exceed the maximum size, even if a line does", () => {
  const manifest = {
    folders: [],
    files: [file("huge", 26_000), ...Array.from({ length: 2_000 }, (_, n) => file(`${n}`))],
  };
  const pieces = [...writeManifest(manifest)];
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(pieceBytes);
  expect(readManifest(pieces)).toEqual(manifest);
});

test("after one file was changed and one added, nearly all pieces are the same", () => {
  const files = Array.from({ length: 10_000 }, (_, n) => file(`uploads/${String(n).padStart(5, "0")}.jpg`));
  const texts = (all: readonly FileEntry[]) =>
    [...writeManifest({ folders: [], files: all })].map((piece) => piece.toString());
  const before = new Set(texts(files));
  const after = texts([
    ...files.slice(0, 4_000),
    file("uploads/03999b.jpg"),
    file("uploads/04000.jpg"),
    ...files.slice(4_001),
  ]);
  expect(before.size).toBeGreaterThan(10);
  expect(after.filter((text) => !before.has(text)).length).toBeLessThanOrEqual(2);
});
