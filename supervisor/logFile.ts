/** A log that can't fill the disk: when it is full it becomes `<name>.1`, that one `<name>.2`, and the oldest goes. */
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

export interface LogFile {
  readonly path: string;
  /** Adds the time in front of nothing: lines are written as they come. */
  write(line: string): void;
  close(): void;
}

export interface LogSize {
  readonly bytes: number;
  /** How many older files are kept. */
  readonly older: number;
}

const usual: LogSize = { bytes: 5_000_000, older: 3 };

/** Opens the log, and its folder where absent. Lines that can't be written (a full disk) are dropped: nothing may end because of its log. */
export function openLog(path: string, size: LogSize = usual): LogFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let descriptor = openSync(path, "a", 0o600);
  let written = fstatSync(descriptor).size;
  function rotate(): void {
    closeSync(descriptor);
    for (let age = size.older; age > 0; age--) {
      moveIfThere(age === 1 ? path : `${path}.${age - 1}`, `${path}.${age}`);
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
        // See above.
      }
    },
    close: () => closeSync(descriptor),
  };
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // There were fewer files than are kept.
  }
}
