/**
 * By how much PHP may make an environment's files longer. Beyond that everything that would make one longer fails as on a
 * full disk, which programs are written for; what only changes or removes something goes on, so that people can make room.
 *
 * Also counts what was written, for whoever measures the environment.
 */

/** As Emscripten numbers the system's "no space left on device". */
export const noSpaceLeft = 51;

/**
 * The database may grow a little beyond: to remove a picture WordPress has to log somebody in and change rows, and it removes
 * the picture's files only where it could remove its row.
 */
const databaseReserveBytes = 8 << 20;
/** What was written is told in parts of this length, so that little of it is unknown where the process is killed. */
const toldBytes = 256 << 10;

export interface DiskBudget {
  /** A request begins: files may grow by so much; null: by anything. */
  begin(leftBytes: number | null): void;
  /** Whom to tell of growth during the request. */
  onGrown(tell: (bytes: number) => void): void;
  /** Whether anything is to be counted. */
  isLimited(): boolean;
  /** Whether files may grow by so much, which they then do. Below zero: they become shorter. */
  take(bytes: number, isDatabase: boolean): boolean;
  /** Something is changed. */
  noteWrite(): void;
  /** The request has ended; whether anything was changed. */
  end(): boolean;
}

export function createDiskBudget(): DiskBudget {
  let left: number | null = null;
  let grown = 0;
  let told = 0;
  let hasWritten = false;
  let tell: (bytes: number) => void = () => undefined;

  function report(): void {
    if (grown !== told) tell(grown - told);
    told = grown;
  }

  return {
    begin(leftBytes) {
      left = leftBytes;
      grown = 0;
      told = 0;
      hasWritten = false;
    },
    onGrown(next) {
      tell = next;
    },
    isLimited: () => left !== null,
    take(bytes, isDatabase) {
      if (left === null) return true;
      const reserve = isDatabase ? databaseReserveBytes : 0;
      if (bytes > 0 && grown + bytes > left + reserve) return false;
      grown += bytes;
      if (Math.abs(grown - told) >= toldBytes) report();
      return true;
    },
    noteWrite() {
      hasWritten = true;
    },
    end() {
      report();
      return hasWritten;
    },
  };
}
