import { expect, test } from "vitest";
import { compareManifests } from "./compareManifests.ts";

const nameOf = (text: string) => Buffer.alloc(32, text);

function file(path: string, { bytes = 3, modified = 1n, content = "a" } = {}) {
  return { path, mode: 0o644, bytes, modified, inode: 1n, pieces: [nameOf(content)] };
}

const of = (...files: ReturnType<typeof file>[]) => ({ folders: [{ path: "public", mode: 0o755 }], files });

test("files are added, changed by content or size, or removed, and other folders don't count", () => {
  const before = of(
    file("public/same.txt"),
    file("public/touched.txt"),
    file("public/edited.txt"),
    file("public/longer.txt"),
    file("public/gone.txt"),
    file("core/wp.php"),
  );
  const after = of(
    file("public/same.txt"),
    file("public/touched.txt", { modified: 2n }),
    file("public/edited.txt", { modified: 2n, content: "b" }),
    file("public/longer.txt", { bytes: 4 }),
    file("public/new.txt", { bytes: 7 }),
    file("core/wp.php", { content: "b", modified: 3n }),
  );
  expect(compareManifests(before, after, "public")).toEqual({
    added: { count: 1, bytes: 7, listed: [{ path: "new.txt", bytes: 7 }] },
    changed: {
      count: 2,
      bytes: 7,
      listed: [
        { path: "edited.txt", bytes: 3 },
        { path: "longer.txt", bytes: 4 },
      ],
    },
    removed: { count: 1, bytes: 3, listed: [{ path: "gone.txt", bytes: 3 }] },
  });
});

test("a file whose pieces have other names because of a new archive key is the same", () => {
  const changes = compareManifests(of(file("public/a")), of(file("public/a", { content: "other key" })), "public");
  expect(changes.changed.count).toBe(0);
});

test("the first hundred are listed", () => {
  const many = Array.from({ length: 120 }, (_, at) => file(`public/${String(at).padStart(3, "0")}`));
  const { added } = compareManifests(of(), of(...many.toReversed()), "public");
  expect([added.count, added.listed.length, added.listed[0]?.path]).toEqual([120, 100, "000"]);
});
