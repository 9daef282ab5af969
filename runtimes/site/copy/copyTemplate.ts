/** Copies a template's files and database into a new release. */
import path from "node:path";
import { copyFolders } from "../../copy.ts";
import type { Template } from "../template.ts";

export async function copyTemplate({ folder }: Pick<Template, "folder">, release: string): Promise<void> {
  await copyFolders([path.join(folder, "public"), path.join(folder, "database")], release);
}
