/** Installs plugins and themes into a web root that is not served yet. */
import { cp, lstat } from "node:fs/promises";
import path from "node:path";
import { removeTree } from "./folders.ts";
import { type NewPackage, RuntimeFailure } from "./runtime.ts";

const foldersOf = { plugin: "plugins", theme: "themes" } as const;

/** The site's owner may have replaced it by a symbolic link that leads elsewhere. */
async function requireFolder(folder: string, name: string): Promise<void> {
  const facts = await lstat(folder).catch(() => null);
  if (!facts?.isDirectory()) throw new RuntimeFailure(`The site has no folder ${name}.`);
}

/** `give` makes what is in a folder the environment's. */
export async function installPackage(
  webRoot: string,
  { kind, name, folder }: NewPackage,
  give: (folder: string) => Promise<void>,
): Promise<void> {
  if (name === "" || name.startsWith(".") || /[/\\\0]/.test(name))
    throw new RuntimeFailure(`${name} is no name of a folder.`);
  const content = path.join(webRoot, "wp-content");
  const place = path.join(content, foldersOf[kind]);
  await requireFolder(content, "wp-content");
  await requireFolder(place, `wp-content/${foldersOf[kind]}`);
  const target = path.join(place, name);
  await removeTree(target);
  await cp(folder, target, { recursive: true, errorOnExist: true, force: false });
  await give(target);
}
