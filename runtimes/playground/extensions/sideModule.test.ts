import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { extensionFileOf } from "../php/build.ts";
import { removeUnusedExports } from "./sideModule.ts";

const exportsOf = (module: WebAssembly.Module) => WebAssembly.Module.exports(module).map(({ name }) => name);

test("a side module keeps the exports that it imports, or that PHP calls, and nothing else changes", () => {
  const original = readFileSync(extensionFileOf("8.3", "intl"));
  const reduced = removeUnusedExports(original);
  const [before, after] = [new WebAssembly.Module(original), new WebAssembly.Module(reduced)];
  const imports = WebAssembly.Module.imports(before);
  expect(WebAssembly.Module.imports(after)).toEqual(imports);
  const used = new Set([
    ...imports.map(({ name }) => name),
    "get_module",
    "__wasm_call_ctors",
    "__wasm_apply_data_relocs",
  ]);
  expect(exportsOf(after)).toEqual(exportsOf(before).filter((name) => used.has(name)));
  expect(exportsOf(after).length).toBeLessThan(exportsOf(before).length * 0.6);
  expect(removeUnusedExports(reduced)).toEqual(reduced);
});
