/**
 * Opens the file that was judged, and no other.
 *
 * Between finding a file and opening it, a site's own PHP can put a symbolic link in the place of a folder on the
 * way, and try so a thousand times a second until it wins. So it is the open file that is asked where it is.
 */
import { closeSync, constants, existsSync, openSync, readlinkSync } from "node:fs";

export interface OpenFile extends Disposable {
  readonly descriptor: number;
  /** A name that leads to the open file, whatever its path leads to by now. */
  readonly path: string;
}

// A pipe in the place of the file would otherwise wait for a writer.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Linux can say where an open file is. Elsewhere the check before must do. */
const knowsOpenFiles = existsSync("/proc/self/fd");

/** `file` is absolute and free of symbolic links. Null if it is gone, can't be read, or is no longer there. */
export function openFile(file: string): OpenFile | null {
  let descriptor: number;
  try {
    descriptor = openSync(file, flags);
  } catch {
    return null;
  }
  const path = knowsOpenFiles ? `/proc/self/fd/${descriptor}` : file;
  const open = { descriptor, path, [Symbol.dispose]: () => closeSync(descriptor) };
  if (!knowsOpenFiles || readlinkSync(path) === file) return open;
  open[Symbol.dispose]();
  return null;
}
