/** The npm packages that contain PHP, one for each version. */
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

function descriptionFile(version: string): string {
  const library = createRequire(createRequire(import.meta.url).resolve("@php-wasm/node"));
  return library.resolve(`@php-wasm/node-${version.replace(".", "-")}/package.json`);
}

/** Returns the file of an extension for this version. */
export function extensionFileOf(version: string, extension: string): string {
  return path.join(path.dirname(descriptionFile(version)), "jspi", "extensions", extension, `${extension}.so`);
}

/** Returns the data file of ICU, which all versions share. */
export function icuDataFile(): string {
  return path.join(path.dirname(createRequire(import.meta.url).resolve("@php-wasm/node")), "shared", "icu.dat");
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

function versionIn(description: unknown): string {
  if (typeof description !== "object" || description === null || !("version" in description)) {
    throw new Error("A package of PHP has no version.");
  }
  return String(description.version);
}

/** Returns the version of the packages of PHP, which all have the same. */
export function libraryVersion(): string {
  return versionIn(createRequire(import.meta.url)("@php-wasm/node/package.json"));
}

/** Identifies a PHP build by its version and that of its package, as in `8.3-3.1.56`. */
export function buildOf(version: string): string {
  return `${version}-${versionIn(createRequire(import.meta.url)(descriptionFile(version)))}`;
}
