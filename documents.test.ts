/** Checks the paths and links in the repository's documents, and that merges left no conflicts in them. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";

const documents = globSync(["*.md", "docs/**/*.md"]);
const folders = /^(?:bench|contract|dns|docs|e2e|edge|runtimes|server|supervisor|tools)\//;

/** Repository paths in backticks, except paths with a placeholder, and relative links. */
function pathsIn(file: string, text: string): string[] {
  const quoted = [...text.matchAll(/`([\w./-]+)`/g)].map(([, path = ""]) => path).filter((path) => folders.test(path));
  const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, path = ""]) => path);
  return [...quoted, ...links.map((path) => join(dirname(file), path))];
}

test.each(documents)("%s has no conflict markers", (file) => {
  expect(readFileSync(file, "utf8")).not.toMatch(/^(?:<{7}|={7}|>{7})(?: |$)/m);
});

describe("every path in a document exists", () => {
  test.each(documents)("%s", (file) => {
    const paths = pathsIn(file, readFileSync(file, "utf8"));
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });

  test("pathsIn finds paths and links", () => {
    expect(pathsIn("docs/a.md", "`server/gone.ts`, `npm test`, [there](b.md#part)")).toEqual([
      "server/gone.ts",
      "docs/b.md",
    ]);
  });
});
