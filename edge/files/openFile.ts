/**
 * Opens exactly the file that was checked.
 *
 * Between the check and the opening, a site's PHP could replace a folder in the path by a symbolic link, a thousand
 * times a second until it wins the race. So the path of the open file is checked again.
 */
import { closeSync, constants, existsSync, openSync, readlinkSync } from "node:fs";

export interface OpenFile extends Disposable {
  readonly descriptor: number;
  /** A path to the open file, even if its original path leads elsewhere by now. */
  readonly path: string;
}

// Non-blocking: opening a named pipe would wait for a writer.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Linux can tell the path of an open file. Other systems rely on the first check. */
const knowsOpenFiles = existsSync("/proc/self/fd");

/** `file` is absolute, without symbolic links. Null if it is missing, not readable, or no longer at this path. */
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
