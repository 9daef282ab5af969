/** Checks at startup that this user may write to the clone, because the tools that would fail print only a stack trace. */
import { accessSync, constants, existsSync } from "node:fs";
import { join } from "node:path";

/** Folders that the tests write to. Vite bundles its configuration into `.vite-temp`. */
const folders = ["", "node_modules", "node_modules/.vite-temp", ".cache"];

/** Throws an error for users that names the folders of this clone that are not writable. */
export function requireWritable(root: string): void {
  const readOnly = folders.map((folder) => join(root, folder)).filter((path) => existsSync(path) && !isWritable(path));
  if (readOnly.length === 0) return;
  const names = readOnly.join(", ");
  throw new Error(`The tests can't write to ${names}: run them as the clone's owner, or in a clone of your own.`);
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
