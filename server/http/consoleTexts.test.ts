/** The console's texts: none is unused, and every kind of operation has one. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kindText, texts } from "@sitewright/console/app/texts.ts";
import { operationKinds } from "@sitewright/contract/operationKinds.ts";
import { expect, test } from "vitest";

const folder = join(import.meta.dirname, "../../console/app");
const sources = globSync("**/*.{ts,tsx}", { cwd: folder })
  .filter((file) => !file.endsWith(".d.ts") && !/Texts\.ts$/.test(file))
  .map((file) => readFileSync(join(folder, file), "utf8"));

/** The names of a text, such as `home.greeting`. */
function namesIn(value: unknown, name: string): readonly string[] {
  if (typeof value !== "object" || value === null) return [name];
  return Object.entries(value).flatMap(([key, inner]) => namesIn(inner, name === "" ? key : `${name}.${key}`));
}

/** What the source uses: names of texts, or of groups of them of which any may be used, such as those with a computed name. */
function usedIn(source: string): readonly string[] {
  // A name may be declared again, in another function.
  const aliases: [name: string, group: string][] = [["texts", ""]];
  const declaration = /const (\w+) = (\w+)((?:\.\w+)+);/g;
  for (const [, alias = "", base = "", path = ""] of source.matchAll(declaration)) {
    const group = aliases.findLast(([known]) => known === base)?.[1];
    if (group !== undefined) aliases.push([alias, `${group}${path}`.replace(/^\./, "")]);
  }
  // A group that is only given a shorter name is not used by that.
  const rest = source.replaceAll(declaration, (whole, _alias, base) =>
    aliases.some(([known]) => known === base) ? "" : whole,
  );
  return aliases.flatMap(([alias, group]) =>
    [...rest.matchAll(new RegExp(`(?<![\\w.])${alias}\\b((?:\\??\\.\\w+)*)(?!:)`, "g"))].map(([, path = ""]) =>
      `${group}${path.replaceAll("?", "")}`.replace(/^\./, ""),
    ),
  );
}

const used = new Set(sources.flatMap(usedIn));

/** Whether the text, or a group that it is in, is used. */
const isUsed = (name: string): boolean => {
  const parts = name.split(".");
  return parts.some((_, index) => used.has(parts.slice(0, index + 1).join(".")));
};

test("no text is unused", () => {
  expect(namesIn(texts, "").filter((name) => !isUsed(name))).toEqual([]);
});

test("every kind of operation has a text, and no other", () => {
  expect(Object.keys(texts.kinds).toSorted()).toEqual(Object.keys(operationKinds).toSorted());
  expect(kindText("addSite")).toBe("Creating a site");
});
