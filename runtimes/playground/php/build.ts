/** The packages that bring PHP, one for each version. */
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

function descriptionFile(version: string): string {
  const library = createRequire(createRequire(import.meta.url).resolve("@php-wasm/node"));
  return library.resolve(`@php-wasm/node-${version.replace(".", "-")}/package.json`);
}

/** The main module of this version's build. */
export function mainModuleOf(version: string): string {
  return path.join(path.dirname(descriptionFile(version)), "jspi", `php_${version.replace(".", "_")}.js`);
}

/** This version's WebAssembly. */
export async function wasmFileOf(version: string): Promise<string> {
  const loader: unknown = await import(pathToFileURL(mainModuleOf(version)).href);
  if (typeof loader !== "object" || loader === null || !("dependencyFilename" in loader)) {
    throw new Error(`The package of PHP ${version} does not say where its WebAssembly is.`);
  }
  return String(loader.dependencyFilename);
}

/** Names this PHP exactly: its version and that of the package which brings it, as in `8.3-3.1.56`. */
export function buildOf(version: string): string {
  const description: unknown = createRequire(import.meta.url)(descriptionFile(version));
  if (typeof description !== "object" || description === null || !("version" in description)) {
    throw new Error(`The package of PHP ${version} does not say its version.`);
  }
  return `${version}-${description.version}`;
}
