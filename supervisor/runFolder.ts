/** Cleans up the folder for sockets. */
import { rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Removes only Sitewright's files, because the operator may have configured a folder with other files. */
export function removeRunFolder(run: string): void {
  for (const name of ["postgres", "native-edge", "native-control", "edge.sock"]) {
    // Something may still be mounted there. The next start uses the folder again.
    ignoreErrors(() => rmSync(join(run, name), { recursive: true, force: true }));
  }
  // It may contain other files.
  ignoreErrors(() => rmdirSync(run));
}

function ignoreErrors(remove: () => void): void {
  try {
    remove();
  } catch {
    // Leftover files do no harm.
  }
}
