/**
 * Who may import whom. The table below is the design; this test reads every import of every source file and
 * holds the one against the other, so that a shortcut between two rooms fails before it is reviewed.
 *
 * A line names a part of the tree and the parts of ours it may import. Test files may import anything: they
 * put rooms together on purpose. Composition roots do the same in the product, and are named one by one.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";

const mayImport: Record<string, readonly string[]> = {
  contract: [],
  edge: ["edge/redirects"],
  "edge/redirects": [],
  dns: [],
  "runtimes/fake": ["runtimes"],
  "runtimes/playground": ["runtimes"],
  runtimes: [],
  "server/store": ["contract"],
  "server/archives": ["contract"],
  "server/domains": ["dns"],
  "server/logs": [],
  "server/packages": ["runtimes"],
  "server/pictures": [],
  "server/mail": ["server", "server/settings", "runtimes"],
  "server/certificates": ["server"],
  "server/operations": [
    "contract",
    "server/store",
    "server/archives",
    "server/packages",
    "server/pictures",
    "server/clients",
    "server/publishing",
    "server/reconcilers",
    "server",
    "runtimes",
  ],
  "server/clients": ["server/settings", "edge", "dns"],
  "server/publishing": [
    "contract",
    "server/store",
    "server/clients",
    "server/domains",
    "server",
    "runtimes",
    "edge",
    "edge/redirects",
    "dns",
  ],
  "server/reconcilers": [
    "contract",
    "server/store",
    "server/archives",
    "server/domains",
    "server/logs",
    "server/mail",
    "server/certificates",
    "server/packages",
    "server/pictures",
    "server/clients",
    "server/publishing",
    "server",
    "runtimes",
  ],
  "server/app": [
    "contract",
    "edge/redirects",
    "server/store",
    "server/certificates",
    "server/domains",
    "server/logs",
    "server/mail",
    "server/packages",
    "server/pictures",
    "server/operations",
    "server",
    "runtimes",
    "dns",
  ],
  "server/moving": ["contract", "server/store", "server"],
  "server/operator": [
    "contract",
    "server/app",
    "server/archives",
    "server/moving",
    "server/packages",
    "server/settings",
    "server/store",
    "server",
    "runtimes",
    "supervisor",
  ],
  "server/http": ["contract", "server/app", "server"],
  "server/settings": ["server"],
  // Files that stand in the server's own folder, such as sealing.
  server: ["server/settings", "runtimes"],
  supervisor: ["server/settings", "runtimes"],
  e2e: [],
  bench: [
    "server",
    "server/certificates",
    "server/packages",
    "server/operations",
    "server/clients",
    "server/publishing",
    "server/reconcilers",
    "server/settings",
    "server/store",
    "runtimes",
    "runtimes/playground",
    "edge",
    "edge/redirects",
    "dns",
    "supervisor",
    "e2e",
  ],
  tools: ["runtimes/playground"],
};

const compositionRoots = new Set([
  "server/main.ts",
  "server/control.ts",
  "server/edgeProcess.ts",
  "server/dnsProcess.ts",
  "server/operator.ts",
  "server/periodicWork.ts",
  "supervisor/main.ts",
  "supervisor/prepare.ts",
  "tools/test.ts",
]);

const files = globSync("{contract,dns,edge,runtimes,server,supervisor,e2e,bench,tools}/**/*.ts", {
  exclude: (name) => name.includes("node_modules"),
}).map((file) => file.replaceAll("\\", "/"));

const isTestCode = (file: string): boolean => /\.test\.ts$|(^|\/)testing\/|conformance\w*\.ts$|^e2e\//.test(file);

/** The longest part of the table that holds the file: `server/http/errors.ts` is in `server/http`. */
function partOf(file: string): string {
  const parts = Object.keys(mayImport).filter((part) => file.startsWith(`${part}/`));
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
  const allowed = [from, ...(mayImport[from] ?? [])];
  return importsIn(file, text)
    .filter((target) => !allowed.includes(partOf(target)))
    .map((target) => `${file} imports ${target}`);
}

describe("who may import whom", () => {
  test("every source file belongs to a part of the table", () => {
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((file) => partOf(file) === "")).toEqual([]);
  });

  test("no source file imports what its room may not", () => {
    const sources = files.filter((file) => !isTestCode(file) && !compositionRoots.has(file));
    expect(sources.flatMap((file) => trespasses(file))).toEqual([]);
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
