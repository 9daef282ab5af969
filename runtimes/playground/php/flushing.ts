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

/** Flushes a file or folder that PHP has open. Returns the number of an error; 0: none. Files in PHP's own memory have nothing to flush. */
export function flush(files: OpenFiles, descriptor: number): number {
  const stream = files.getStream(descriptor);
  if (stream === null) return badDescriptor;
  if (stream.nfd === undefined) return 0;
  try {
    // PHP waits for it, and its process runs nothing else meanwhile.
    fsyncSync(stream.nfd);
    return 0;
  } catch {
    return inputOutputError;
  }
}
