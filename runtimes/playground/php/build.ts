/** The npm packages that contain PHP, one for each version. */
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

function descriptionFile(version: string): string {
  const library = createRequire(createRequire(import.meta.url).resolve("@php-wasm/node"));
  return library.resolve(`@php-wasm/node-${version.replace(".", "-")}/package.json`);
}

/** Returns the main module of this version's package. */
export function mainModuleOf(version: string): string {
  return path.join(path.dirname(descriptionFile(version)), "jspi", `php_${version.replace(".", "_")}.js`);
}

/** Returns the path of this version's WebAssembly file. */
export async function wasmFileOf(version: string): Promise<string> {
  const loader: unknown = await import(pathToFileURL(mainModuleOf(version)).href);
  if (typeof loader !== "object" || loader === null || !("dependencyFilename" in loader)) {
    throw new Error(`The package of PHP ${version} does not export the path of its WebAssembly.`);
  }
  return String(loader.dependencyFilename);
}

/** Identifies a PHP build by its version and that of its package, as in `8.3-3.1.56`. */
export function buildOf(version: string): string {
  const description: unknown = createRequire(import.meta.url)(descriptionFile(version));
  if (typeof description !== "object" || description === null || !("version" in description)) {
    throw new Error(`The package of PHP ${version} has no version.`);
  }
  return `${version}-${description.version}`;
}
