import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { assetPackage } from "@sitewright/runtimes/assets/package.ts";
import { expect, test } from "vitest";

test("the bill of materials has the packages that run, and WordPress, without the tools of developers", () => {
  const text = execFileSync(process.execPath, [join(import.meta.dirname, "sbom.ts")], { encoding: "utf8" });
  const { bomFormat, components } = JSON.parse(text);
  expect(bomFormat).toBe("CycloneDX");
  const names = components.map(({ name }: { readonly name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(["fastify", "kysely", "@php-wasm/node", "node"]));
  expect(names).not.toContain("vitest");
  expect(components.at(-1)).toMatchObject({ name: assetPackage.name, version: assetPackage.version });
});
