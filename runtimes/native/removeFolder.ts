/** Removes folders in which sites' programs may have made paths that are too long for Node. */
import { randomBytes } from "node:crypto";
import { rename } from "node:fs/promises";
import { runCommand } from "../command.ts";

/** Removes the folder with all its content, or nothing if there is none. */
export async function removeFolder(folder: string): Promise<void> {
  await runCommand("rm", ["-rf", "--", folder]);
}

/** Renames the folder, so that its path is free at once, and removes it in the background. `onFailure` gets the error if that fails. */
export async function removeLater(folder: string, onFailure: (error: unknown) => void): Promise<void> {
  const old = `${folder}.old-${randomBytes(4).toString("hex")}`;
  const isThere = await rename(folder, old).then(
    () => true,
    () => false,
  );
  if (isThere) removeFolder(old).catch(onFailure);
}
