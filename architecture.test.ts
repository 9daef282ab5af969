/**
 * Checks the imports of all source files against `tools/rooms.ts`, and that only the runtimes know their engines. Fails for imports that the table does not allow, for
 * entries of the table that no import needs, and for cycles of rooms.
 *
 * Test files and the composition roots, which are listed there, may import anything.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { generatedDocuments } from "./tools/generatedDocuments.ts";
import { compositionRoots, rooms } from "./tools/rooms.ts";

const files = globSync("{console,contract,dns,edge,runtimes,server,supervisor,e2e,bench,tools}/**/*.{ts,tsx}", {
  exclude: (name) => name.includes("node_modules"),
}).map((file) => file.replaceAll("\\", "/"));

const isTestCode = (file: string): boolean => /\.test\.ts$|(^|\/)(testing|conformance)\/|^e2e\//.test(file);

const isCompositionRoot = (file: string): boolean =>
  compositionRoots.some((root) => file === root || (root.endsWith("/") && file.startsWith(root)));

/** The most specific room of a file, or an empty string. `server/http/errors.ts` is in `server/http`. */
function roomOf(file: string): string {
  const matches = Object.keys(rooms).filter((room) => file.startsWith(`${room}/`));
  return matches.reduce((longest, room) => (room.length > longest.length ? room : longest), "");
}

/** The repository's files that a file with this text imports, as paths from the root. */
function importsIn(file: string, text: string): string[] {
  const specifiers = [...text.matchAll(/(?:from\s*|import\s*\(?\s*)"([^"]+)"/g)].map((match) => match[1] ?? "");
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith("@sitewright/")) return [specifier.slice("@sitewright/".length)];
    if (specifier.startsWith(".")) return [normalize(join(dirname(file), specifier)).replaceAll("\\", "/")];
    return [];
  });
}

const importsOf = (file: string): string[] => importsIn(file, readFileSync(file, "utf8"));

function forbiddenImports(file: string, text = readFileSync(file, "utf8")): string[] {
  const from = roomOf(file);
  const allowed = [from, ...(rooms[from]?.mayImport ?? [])];
  return importsIn(file, text)
    .filter((target) => !allowed.includes(roomOf(target)))
    .map((target) => `${file} imports ${target}`);
}

/** The first import cycle, as a path from a file back to itself, or null. */
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

/** Words that only `runtimes/` may use: what a site's PHP and its database are, and how PHP is made fast. */
const engineWords =
  /sqlite|wp-includes|\bspares?\b|\bspare[A-Z]|SPARE_|\bcompiled ?(?:php|version)|web-?assembly|\bopcodes?\b|php-?fpm/i;

/** Files outside `runtimes/` that use such words nevertheless, and why. */
const engineWordExceptions: Readonly<Record<string, string>> = {
  "contract/sites/runtime.ts": "tells customers what the two runtimes are, between which they choose",
  "dns/message/readPacket.ts": "opcodes of DNS",
  "dns/message/reply.ts": "opcodes of DNS",
  "edge/files/sensitiveNames.ts": "customers' own files, which may be databases of any kind",
  "server/edgeServing.ts": "connects the edge with the engines",
  "server/operations/steps/fetchWordPress.ts": "looks into a copy of WordPress that was downloaded",
  "server/operator/commands.ts": "tells the operator what a folder must have to be added as a PHP version",
  "server/packages/mirrorAnswers.ts": "an address of WordPress's icon",
  "server/settings/settingChecks.ts": "the former name of a setting",
};

/** Benchmarks and tools are about the engines themselves. */
const isAboveRuntimes = (file: string): boolean =>
  !isTestCode(file) && !["runtimes/", "bench/", "tools/"].some((room) => file.startsWith(room));

test("nothing above the runtimes knows what PHP and databases are made of", () => {
  const found = files.filter((file) => isAboveRuntimes(file) && engineWords.test(readFileSync(file, "utf8")));
  expect(found.toSorted()).toEqual(Object.keys(engineWordExceptions).toSorted());
});

test.each([
  "overlays: { 'wp-includes': core }",
  "const mark = 'Not supported on SQLite'",
  "SITEWRIGHT_SPARE_WORKERS",
  "spareWorkers: 1",
  "two spares",
  "compiledPhpVersions",
])("a text of an engine is recognised: %s", (text) => {
  expect(text).toMatch(engineWords);
});

describe("imports", () => {
  test("every source file belongs to a room", () => {
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((file) => roomOf(file) === "")).toEqual([]);
  });

  test("source files import only rooms that the table allows", () => {
    const sources = files.filter((file) => !isTestCode(file) && !isCompositionRoot(file));
    expect(sources.flatMap((file) => forbiddenImports(file))).toEqual([]);
  });

  test("the table allows only imports that are used", () => {
    const sources = files.filter((file) => !isTestCode(file) && !isCompositionRoot(file));
    const used = new Set(
      sources.flatMap((file) => importsOf(file).map((target) => `${roomOf(file)} → ${roomOf(target)}`)),
    );
    const allowed = Object.entries(rooms).flatMap(([path, { mayImport }]) =>
      mayImport.map((name) => `${path} → ${name}`),
    );
    expect(allowed.filter((pair) => !used.has(pair))).toEqual([]);
  });

  test("rooms do not import each other, not even in a circle", () => {
    expect(findCycle(new Map(Object.entries(rooms).map(([room, { mayImport }]) => [room, mayImport])))).toBeNull();
  });

  test("there are no import cycles, not even for types", () => {
    const sources = files.filter((file) => !isTestCode(file));
    const imports = new Map(sources.map((file) => [file, importsOf(file)]));
    expect(findCycle(imports)).toBeNull();
  });

  test("findCycle finds a cycle", () => {
    const withLast = (last: string) => ({ "a.ts": ["b.ts", "c.ts"], "b.ts": [], "c.ts": ["d.ts"], "d.ts": [last] });
    expect(findCycle(new Map(Object.entries(withLast("b.ts"))))).toBeNull();
    expect(findCycle(new Map(Object.entries(withLast("c.ts"))))).toEqual(["c.ts", "d.ts", "c.ts"]);
  });

  test.each([...generatedDocuments()])("%s is up to date with `npm run gen`", (file, text) => {
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("source files do not import test code", () => {
    const sources = files.filter((file) => !isTestCode(file) && roomOf(file) !== "bench");
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
  ])("forbiddenImports finds an import in %s: %s", (file, text, target) => {
    expect(forbiddenImports(file, text)).toEqual([`${file} imports ${target}`]);
  });
});
