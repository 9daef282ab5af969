/**
 * One supervisor per data folder. The lock is the operating system's: it ends with the process that holds it,
 * however that ends, so none is ever left behind. The file's content only says who holds it.
 */
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { flockSync } from "fs-ext-extra-prebuilt";

export interface DataLock {
  release(): void;
}

/** The lock is held; the message says by which process. */
export class AlreadyRunning extends Error {
  override readonly name = "AlreadyRunning";
}

/** Takes the lock of the folder, which must be there. Throws `AlreadyRunning` if it is held. */
export function lockData(data: string): DataLock {
  const path = join(data, "supervisor.lock");
  const descriptor = openSync(path, "a+", 0o600);
  try {
    flockSync(descriptor, "exnb");
  } catch (cause) {
    const holder = readFileSync(path, "utf8").trim();
    closeSync(descriptor);
    throw new AlreadyRunning(alreadyRunning(data, holder), { cause });
  }
  ftruncateSync(descriptor);
  writeSync(descriptor, `${process.pid}\n`);
  return { release: () => closeSync(descriptor) };
}

function alreadyRunning(data: string, holder: string): string {
  return (
    `Sitewright is already running on ${data}${holder === "" ? "" : ` (process ${holder})`}. ` +
    "Stop that one first, or choose another folder with SITEWRIGHT_DATA."
  );
}
