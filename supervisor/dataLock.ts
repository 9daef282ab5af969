/**
 * One supervisor per data folder. The operating system releases the lock when its holder ends, however that happens, so
 * there are no stale locks. The file's content is only the holder's process id.
 */
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { flockSync } from "fs-ext-extra-prebuilt";

export interface DataLock {
  release(): void;
}

/** The lock is held. */
export class AlreadyRunning extends Error {
  override readonly name = "AlreadyRunning";
  /** Null if the holder has not written its process id yet. */
  readonly holder: number | null;

  constructor(data: string, holder: string, options: ErrorOptions) {
    super(alreadyRunning(data, holder), options);
    this.holder = holder === "" ? null : Number(holder);
  }
}

/** Takes the lock of an existing folder. Throws `AlreadyRunning` if it is held. */
export function lockData(data: string): DataLock {
  const path = join(data, "supervisor.lock");
  const descriptor = openSync(path, "a+", 0o600);
  try {
    flockSync(descriptor, "exnb");
  } catch (cause) {
    const holder = readFileSync(path, "utf8").trim();
    closeSync(descriptor);
    throw new AlreadyRunning(data, holder, { cause });
  }
  ftruncateSync(descriptor);
  writeSync(descriptor, `${process.pid}\n`);
  return { release: () => closeSync(descriptor) };
}

function alreadyRunning(data: string, holder: string): string {
  return (
    `Sitewright is already running on ${data}${holder === "" ? "" : ` (process ${holder})`}. ` +
    "Stop that process first, or choose another folder with SITEWRIGHT_DATA."
  );
}
