/**
 * Checks `tools/rooms.ts` against every import of every source file, in both directions: an import that a room does not
 * allow fails, and so does an allowance that nothing uses.
 *
 * Test files may import anything. So may the composition roots, which are listed there.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { generatedDocuments } from "./tools/generatedDocuments.ts";
import { compositionRoots, rooms } from "./tools/rooms.ts";

const files = globSync("{contract,dns,edge,runtimes,server,supervisor,e2e,bench,tools}/**/*.ts", {
  exclude: (name) => name.includes("node_modules"),
}).map((file) => file.replaceAll("\\", "/"));

const isTestCode = (file: string): boolean => /\.test\.ts$|(^|\/)testing\/|conformance\w*\.ts$|^e2e\//.test(file);

const isCompositionRoot = (file: string): boolean =>
  compositionRoots.some((root) => file === root || (root.endsWith("/") && file.startsWith(root)));

/** The longest part of the table that holds the file: `server/http/errors.ts` is in `server/http`. */
function partOf(file: string): string {
  const parts = Object.keys(rooms).filter((part) => file.startsWith(`${part}/`));
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), "");
}

/** The files of ours that a file with this text imports, as paths from the root. */
function importsIn(file: string, text: string): string[] {
  const specifiers = [...text.matchAll(/(?:from\s*|import\s*\(?\s*)"([^"]+)"/g)].map((match) => match[1] ?? "");
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith("@sitewright/")) return [specifier.slice("@sitewright/".length)];
    if (specifier.startsWith(".")) return [normalize(join(dirname(file), specifier)).replaceAll("\\", "/")];
    return [];
  });
}

const importsOf = (file: string): string[] => importsIn(file, readFileSync(file, "utf8"));

function trespasses(file: string, text = readFileSync(file, "utf8")): string[] {
  const from = partOf(file);
  const allowed = [from, ...(rooms[from]?.mayImport ?? [])];
  return importsIn(file, text)
    .filter((target) => !allowed.includes(partOf(target)))
    .map((target) => `${file} imports ${target}`);
}

/** The first files that import each other in a circle, as a path from one of them back to itself. */
function findCycle(imports: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>();
  const search = (file: string, path: readonly string[]): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    for (const next of imports.get(file) ?? []) {
      const cycle = search(next, [...path, file]);
      if (cycle !== null) return cycle;
    }
    done.add(file);
    return null;
  };
  for (const file of imports.keys()) {
    const cycle = search(file, []);
    if (cycle !== null) return cycle;
  }
  return null;
}

describe("who may import whom", () => {
  test("every source file belongs to a part of the table", () => {
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((file) => partOf(file) === "")).toEqual([]);
  });

  test("no source file imports what its room may not", () => {
    const sources = files.filter((file) => !isTestCode(file) && !isCompositionRoot(file));
    expect(sources.flatMap((file) => trespasses(file))).toEqual([]);
  });

  test("no room may import what it does not use", () => {
    const sources = files.filter((file) => !isTestCode(file) && !isCompositionRoot(file));
    const used = new Set(
      sources.flatMap((file) => importsOf(file).map((target) => `${partOf(file)} → ${partOf(target)}`)),
    );
    const allowed = Object.entries(rooms).flatMap(([path, { mayImport }]) =>
      mayImport.map((name) => `${path} → ${name}`),
    );
    expect(allowed.filter((pair) => !used.has(pair))).toEqual([]);
  });

  test("no source file imports itself through others, not even types", () => {
    const sources = files.filter((file) => !isTestCode(file));
    const imports = new Map(sources.map((file) => [file, importsOf(file)]));
    expect(findCycle(imports)).toBeNull();
  });

  test("a cycle would be found", () => {
    const withLast = (last: string) => ({ "a.ts": ["b.ts", "c.ts"], "b.ts": [], "c.ts": ["d.ts"], "d.ts": [last] });
    expect(findCycle(new Map(Object.entries(withLast("b.ts"))))).toBeNull();
    expect(findCycle(new Map(Object.entries(withLast("c.ts"))))).toEqual(["c.ts", "d.ts", "c.ts"]);
  });

  test.each([...generatedDocuments()])("%s is what `npm run gen` writes", (file, text) => {
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("no part of the product imports test code", () => {
    const sources = files.filter((file) => !isTestCode(file) && partOf(file) !== "bench");
    const found = sources.flatMap((file) => importsOf(file).filter((target) => isTestCode(target)));
    expect(found).toEqual([]);
  });

  test.each([
    [
      "edge/files/static.ts",
      'import { sites } from "@sitewright/server/store/sites/sites.ts";',
      "server/store/sites/sites.ts",
    ],
    ["server/http/sites/sites.ts", 'import type { Sites } from "../../store/database.ts";', "server/store/database.ts"],
    [
      "contract/sites/sites.ts",
      'const late = await import("../../server/settings/config.ts");',
      "server/settings/config.ts",
    ],
    ["runtimes/fake/runtime.ts", 'export { boot } from "../playground/boot.ts";', "runtimes/playground/boot.ts"],
  ])("a trespass of %s would be found: %s", (file, text, target) => {
    expect(trespasses(file, text)).toEqual([`${file} imports ${target}`]);
  });
});
