/** Cleans up the folder for sockets. */
import { rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Removes only Sitewright's files, because the operator may have configured a folder with other files. */
export function removeRunFolder(run: string): void {
  for (const folder of ["postgres", "native-edge", "native-control"]) {
    rmSync(join(run, folder), { recursive: true, force: true });
  }
  rmSync(join(run, "edge.sock"), { force: true });
  try {
    rmdirSync(run);
  } catch {
    // It contains other files.
  }
}
