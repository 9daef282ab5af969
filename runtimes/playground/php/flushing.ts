/** Flushing files and folders to disk. The library reports success without it, so a power cut would lose what SQLite has committed. */
import { fsyncSync } from "node:fs";

/** Emscripten's table of open files. */
export interface OpenFiles {
  /** `nfd`: the host's descriptor, of files and folders in mounted folders. */
  getStream(descriptor: number): { readonly nfd?: number } | null;
}

/** Numbers of errors in WebAssembly. */
const badDescriptor = 8;
const inputOutputError = 29;
const otherErrors = new Map([
  ["EBADF", badDescriptor],
  ["EINVAL", 28],
  ["EROFS", 28],
  ["ENOSPC", 51],
  ["EDQUOT", 51],
]);

/** Flushes a file or folder that PHP has open. Returns the number of an error; 0: none. Files in PHP's own memory have nothing to flush. */
export function flush(files: OpenFiles, descriptor: number): number {
  const stream = files.getStream(descriptor);
  if (stream === null) return badDescriptor;
  if (stream.nfd === undefined) return 0;
  try {
    // PHP waits for it, and its process runs nothing else meanwhile.
    fsyncSync(stream.nfd);
    return 0;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return otherErrors.get(code) ?? inputOutputError;
  }
}
