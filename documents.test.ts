/** Checks the paths and links in the repository's documents, and that merges left no conflicts in them. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";

const documents = globSync(["*.md", "docs/**/*.md"]);
const folders = /^(?:bench|console|contract|dns|docs|e2e|edge|runtimes|server|supervisor|tools)\//;
const exclude = ["**/node_modules", "data", ".cache", ".git"];
const sourceNames = new Set(globSync("**/*.{ts,tsx,cjs}", { exclude }).map((path) => basename(path)));

/** Repository paths in backticks, except paths with a placeholder, and the targets of relative links. */
function pathsIn(file: string, text: string): string[] {
  const quoted = [...text.matchAll(/`([\w./-]+)`/g)].map(([, path = ""]) => path).filter((path) => folders.test(path));
  return [...quoted, ...linksIn(file, text).map(([path]) => path)];
}

/** Relative links: the path from the root, and the heading or an empty string. */
function linksIn(file: string, text: string): [path: string, heading: string][] {
  const links = [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  return links.map(([, path = "", heading = ""]) => [path === "" ? file : join(dirname(file), path), heading]);
}

/** Names of source files in backticks, without a folder. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/`([\w.-]+\.(?:ts|cjs))`/g)].map(([, name = ""]) => name);
}

/** The anchors of the headings, as GitHub makes them. */
function anchorsIn(text: string): string[] {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test.each(documents)("%s has no conflict markers", (file) => {
  expect(readFileSync(file, "utf8")).not.toMatch(/^(?:<{7}|={7}|>{7})(?: |$)/m);
});

describe("every path, file name and linked heading in a document exists", () => {
  test.each(documents)("%s", (file) => {
    const text = readFileSync(file, "utf8");
    expect(pathsIn(file, text).filter((path) => !existsSync(path))).toEqual([]);
    expect(namesIn(text).filter((name) => !sourceNames.has(name))).toEqual([]);
    const headings = linksIn(file, text).filter(([, heading]) => heading !== "");
    expect(headings.filter(([path, heading]) => !anchorsIn(readFileSync(path, "utf8")).includes(heading))).toEqual([]);
  });

  test("pathsIn finds paths and links", () => {
    expect(pathsIn("docs/a.md", "`server/gone.ts`, `npm test`, [there](b.md#part)")).toEqual([
      "server/gone.ts",
      "docs/b.md",
    ]);
  });

  test("linksIn, namesIn and anchorsIn find headings and files", () => {
    expect(linksIn("docs/a.md", "[here](#part), [there](b.md#its-part)")).toEqual([
      ["docs/a.md", "part"],
      ["docs/b.md", "its-part"],
    ]);
    expect(namesIn("`gone.ts` and `npm test`")).toEqual(["gone.ts"]);
    expect(anchorsIn("# Its part: `a.ts`, twice\n")).toEqual(["its-part-ats-twice"]);
  });
});
