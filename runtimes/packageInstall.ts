/** Installs plugins and themes into a web root that is not served yet. */
import { cp, lstat } from "node:fs/promises";
import path from "node:path";
import { removeTree } from "./folders.ts";
import { type NewPackage, RuntimeFailure } from "./runtime.ts";

const foldersOf = { plugin: "plugins", theme: "themes" } as const;

/** Requires a real folder: the site's owner may have replaced it by a symbolic link that leads elsewhere. */
async function requireFolder(folder: string, name: string): Promise<void> {
  const facts = await lstat(folder).catch(() => null);
  if (!facts?.isDirectory()) throw new RuntimeFailure(`The site has no folder ${name}.`);
}

/**
 * Copies a package into the web root, replacing an earlier one of that name. `takeOwnership` makes the environment's
 * system user the owner of the copied files.
 */
export async function installPackage(
  webRoot: string,
  { kind, name, folder }: NewPackage,
  takeOwnership: (folder: string) => Promise<void>,
): Promise<void> {
  if (name === "" || name.startsWith(".") || /[/\\\0]/.test(name))
    throw new RuntimeFailure(`${name} is not a valid folder name.`);
  const content = path.join(webRoot, "wp-content");
  const parent = path.join(content, foldersOf[kind]);
  await requireFolder(content, "wp-content");
  await requireFolder(parent, `wp-content/${foldersOf[kind]}`);
  const target = path.join(parent, name);
  await removeTree(target);
  await cp(folder, target, { recursive: true, errorOnExist: true, force: false });
  await takeOwnership(target);
}
