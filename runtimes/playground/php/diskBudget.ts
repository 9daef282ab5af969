/**
 * Limits how much PHP may grow an environment's files. Beyond the limit, operations that make a file longer fail as on
 * a full disk, which programs can handle. Other changes and removals still work, so that users can free space.
 *
 * The same happens when the disk's reserve is reached. The disk is asked before a request's first change, and again after
 * every few megabytes: others write too. Databases may use a part of the reserve, because deleting something changes rows.
 *
 * Also counts written bytes for the measurement of the environment's size.
 */

/** Emscripten's number for ENOSPC, "no space left on device". */
export const noSpaceLeft = 51;

/**
 * The database may exceed the limit a little: to delete an image, WordPress has to log the user in and change rows, and
 * it deletes the image's files only after its row.
 */
const databaseReserveBytes = 8 << 20;
/** How much of the reserve databases may use. */
const reserveForDatabases = 256 << 20;
/** The disk is asked again after this many written bytes. */
const checkBytes = 16 << 20;
/** Growth is reported in portions of this size, so that little is lost if the process is killed. */
const reportBytes = 256 << 10;

export interface DiskBudget {
  /** Starts a request: files may grow by this many bytes. Null: unlimited. */
  begin(leftBytes: number | null): void;
  /** Sets the receiver of growth reports during the request. */
  onGrown(listener: (bytes: number) => void): void;
  /** Keeps some of the disk free. `freeBytes` returns how much may be used; it is asked now and then. */
  keepFree(freeBytes: () => number): void;
  /** Whether growth is limited and must be counted. */
  isLimited(): boolean;
  /** Reserves this many bytes; false if the limit does not allow it. Negative: files become shorter. */
  take(bytes: number, isDatabase: boolean): boolean;
  /** By how many bytes files have grown during the request. */
  grownBytes(): number;
  /** Counts files that another process has made longer for this request. */
  addGrowth(bytes: number): void;
  /** Whether this many bytes within a file may be written: they may need space if the file has holes. */
  mayOverwrite(bytes: number, isDatabase: boolean): boolean;
  /** Records that something was changed. */
  noteWrite(): void;
  /** Ends the request. Returns whether anything was changed. */
  end(): boolean;
}

export function createDiskBudget(): DiskBudget {
  let left: number | null = null;
  let grown = 0;
  let reported = 0;
  let hasWritten = false;
  let freeBytes: (() => number) | null = null;
  /** Bytes that may be written until the disk is asked again. */
  let unchecked = 0;
  let listener: (bytes: number) => void = () => undefined;

  function report(): void {
    if (grown !== reported) listener(grown - reported);
    reported = grown;
  }

  function fits(bytes: number, isDatabase: boolean): boolean {
    if (freeBytes === null) return true;
    if (bytes > unchecked) {
      if (freeBytes() + (isDatabase ? reserveForDatabases : 0) < bytes) return false;
      unchecked = checkBytes;
    }
    unchecked -= bytes;
    return true;
  }

  return {
    begin(leftBytes) {
      left = leftBytes;
      grown = 0;
      reported = 0;
      unchecked = 0;
      hasWritten = false;
    },
    keepFree(next) {
      freeBytes = next;
    },
    onGrown(next) {
      listener = next;
    },
    isLimited: () => left !== null || freeBytes !== null,
    take(bytes, isDatabase) {
      const reserve = isDatabase ? databaseReserveBytes : 0;
      if (bytes > 0 && left !== null && grown + bytes > left + reserve) return false;
      if (bytes > 0 && !fits(bytes, isDatabase)) return false;
      grown += bytes;
      if (Math.abs(grown - reported) >= reportBytes) report();
      return true;
    },
    grownBytes: () => grown,
    addGrowth(bytes) {
      grown += bytes;
    },
    mayOverwrite: fits,
    noteWrite() {
      hasWritten = true;
    },
    end() {
      report();
      return hasWritten;
    },
  };
}
