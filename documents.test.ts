/** The documents of the repository name files that exist. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";

const documents = globSync(["*.md", "docs/**/*.md"]);
const folders = /^(?:bench|contract|dns|docs|e2e|edge|runtimes|server|supervisor|tools)\//;

/** Paths of the repository in backticks, without those that have a placeholder, and relative links. */
function pathsIn(file: string, text: string): string[] {
  const quoted = [...text.matchAll(/`([\w./-]+)`/g)].map(([, path = ""]) => path).filter((path) => folders.test(path));
  const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, path = ""]) => path);
  return [...quoted, ...links.map((path) => join(dirname(file), path))];
}

describe("every path that a document names exists", () => {
  test.each(documents)("%s", (file) => {
    const paths = pathsIn(file, readFileSync(file, "utf8"));
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });

  test("one that does not would be found", () => {
    expect(pathsIn("docs/a.md", "`server/gone.ts`, `npm test`, [there](b.md#part)")).toEqual([
      "server/gone.ts",
      "docs/b.md",
    ]);
  });
});
