/** The folder for sockets, at the end. */
import { rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Only what is known to be ours: the person may have named a folder that holds more. */
export function removeRunFolder(run: string): void {
  rmSync(join(run, "postgres"), { recursive: true, force: true });
  rmSync(join(run, "edge.sock"), { force: true });
  try {
    rmdirSync(run);
  } catch {
    // It holds more.
  }
}
