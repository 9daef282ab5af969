/** The built console as it is sent: its page, and the files that the page loads, compressed. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";

/** Where the build is. Both paths may not exist yet. */
export interface ConsolePaths {
  readonly folder: string;
  /** Says why there is no build. */
  readonly failure: string;
}

export interface ConsoleFile {
  readonly type: string;
  readonly content: Buffer;
  readonly brotli: Buffer;
  readonly gzip: Buffer;
}

/** The files by name, or why there are none: the reason, or null while they are being built. */
export type Console =
  | { readonly files: ReadonlyMap<string, ConsoleFile> }
  | { readonly files: null; readonly failure: string | null };

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Returns a function that reads the build when it is first needed, and again until it exists. */
export function makeConsole({ folder, failure }: ConsolePaths): () => Promise<Console> {
  let reading: Promise<Console> | undefined;
  return async () => {
    if (reading !== undefined) return reading;
    if (!existsSync(folder)) return { files: null, failure: await readFailure(failure) };
    reading = readFiles(folder).then((files) => ({ files }));
    reading.catch(() => {
      reading = undefined;
    });
    return reading;
  };
}

async function readFailure(file: string): Promise<string | null> {
  return existsSync(file) ? readFile(file, "utf8") : null;
}

async function readFiles(folder: string): Promise<ReadonlyMap<string, ConsoleFile>> {
  const files = new Map<string, ConsoleFile>();
  for (const name of await readdir(folder)) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const [content, brotli, gzip] = await Promise.all(
      ["", ".br", ".gz"].map((ending) => readFile(join(folder, name + ending))),
    );
    if (content !== undefined && brotli !== undefined && gzip !== undefined) {
      files.set(name, { type, content, brotli, gzip });
    }
  }
  return files;
}
