/** What a release has of the template that it begins as: its own files and its database. */
import path from "node:path";
import type { Template } from "../../templates/template.ts";
import { copyFolders } from "./copy.ts";

export async function copyTemplate({ folder }: Pick<Template, "folder">, release: string): Promise<void> {
  await copyFolders([path.join(folder, "public"), path.join(folder, "database")], release);
}
