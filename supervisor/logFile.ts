/** A log with rotation, so that it can't fill the disk: `<name>`, then `<name>.1`, `<name>.2` and so on. */
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

export interface LogFile {
  readonly path: string;
  /** Appends the line as it is, without a timestamp. */
  write(line: string): void;
  close(): void;
}

interface LogSize {
  readonly bytes: number;
  /** Number of rotated files to keep. */
  readonly older: number;
}

const defaultSize: LogSize = { bytes: 5_000_000, older: 3 };

/**
 * Opens the log and creates its folder if missing. Drops lines that can't be written, such as on a full disk: logging
 * must never stop a process.
 */
export function openLog(path: string, size: LogSize = defaultSize): LogFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let descriptor = openSync(path, "a", 0o600);
  let written = fstatSync(descriptor).size;
  function rotate(): void {
    closeSync(descriptor);
    for (let age = size.older; age > 0; age--) {
      renameIfExists(age === 1 ? path : `${path}.${age - 1}`, `${path}.${age}`);
    }
    descriptor = openSync(path, "a", 0o600);
    written = 0;
  }
  return {
    path,
    write(line) {
      try {
        written += writeSync(descriptor, `${line}\n`);
        if (written >= size.bytes) {
          rotate();
        }
      } catch {
        // Dropped.
      }
    },
    close: () => closeSync(descriptor),
  };
}

function renameIfExists(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // No such file yet.
  }
}
