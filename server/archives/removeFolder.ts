/** Removes a folder with what a site has put into it. */
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

function isDenied(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM");
}

/** Also where a folder in it may not be written to: sites close their own folders. Tolerates that there is none. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch (error) {
    if (!isDenied(error)) throw error;
    await run("chmod", ["-R", "u+rwX", folder]);
    await rm(folder, { recursive: true, force: true });
  }
}
