/**
 * Limits what a request writes to the disk. No single write can be refused, as in the playground: what PHP's process has written is
 * measured, and a request that has written more than there is room for is ended. Rewritten data counts again, so the environment's
 * own size is what counts in the end; it is measured from time to time.
 */
import type { DiskReserve } from "../freeDisk.ts";
import { freeDisk, freeDiskSync } from "../freeDisk.ts";
import type { WorkerRequest } from "../pool/worker.ts";
import { writtenByProcess } from "./processTree.ts";

/**
 * How far above its quota an environment may be before nothing may write any more, in bytes: what each request may write in a full
 * environment adds up. `measured`: by its size when it was last measured. `written`: with everything that was written since, although that
 * may have replaced older data. Commands free space, so they go on longer.
 */
const overdraft = { measured: 32 << 20, written: 256 << 20, commands: 64 << 20 };
/** How long the free space of the server's disk is taken as known. Milliseconds. */
const freshMilliseconds = 1_000;

/** Whether requests must not write, because the environment is far above its quota, or the server's disk is nearly full. */
export function isDiskFull(
  { diskLeftBytes, measuredLeftBytes }: Pick<WorkerRequest, "diskLeftBytes" | "measuredLeftBytes">,
  reserve: DiskReserve,
): boolean {
  const isFarAbove = (measuredLeftBytes ?? 0) < -overdraft.measured || (diskLeftBytes ?? 0) < -overdraft.written;
  return isFarAbove || isServerNearlyFull(reserve);
}

/** The same for a command. `leftBytes` is from a measurement right before it. */
export function isDiskFullForCommands(leftBytes: number | null, reserve: DiskReserve): boolean {
  return (leftBytes ?? 0) < -overdraft.commands || isServerNearlyFull(reserve);
}

let known = { folder: "", at: 0, isNearlyFull: false };

/** Whether sites have used half of the space that they must leave free. */
function isServerNearlyFull(reserve: DiskReserve): boolean {
  const now = performance.now();
  if (known.folder === reserve.folder && now - known.at < freshMilliseconds) return known.isNearlyFull;
  known = { folder: reserve.folder, at: now, isNearlyFull: askForSpace(reserve) < -reserve.bytes / 2 };
  return known.isNearlyFull;
}

function askForSpace(reserve: DiskReserve): number {
  try {
    return freeDiskSync(reserve);
  } catch {
    // Writes to a disk that can't even be asked fail by themselves.
    return 0;
  }
}

interface DiskWatchOptions {
  /** Returns the ids of the processes that work for the request. */
  readonly processes: () => readonly number[];
  /** What they had written before the request. */
  readonly before: number;
  /** By how much the environment may grow; null: unlimited. */
  readonly leftBytes: number | null;
  readonly reserve: DiskReserve;
  /** Called once, with a sentence for the log. */
  readonly onExcess: (reason: string) => void;
}

export interface DiskWatch {
  /** Stops watching. Returns how much the request has written. */
  end(): Promise<number>;
}

/** Shorter if the request has written since the last time, or hardly may: in the longer one, a disk takes more than 100 MB. */
const intervalMilliseconds = { usual: 100, short: 20 };
/**
 * How much a request may write in a full environment, so that people can log in, and edit and remove posts: logging in rewrites some
 * 2.5 MB of the database and its journal, although the database hardly grows.
 */
const alwaysAllowedBytes = 8 << 20;

const environmentFull =
  "The script was ended because it wrote more than the environment's disk quota has room for. Remove files or raise the quota.";
const serverFull =
  "The script was ended because it wrote while the server's disk is full. Try again when the operator has freed disk space.";

/** Returns how many bytes these processes have written; ended ones count 0. 0 if the system does not report it. */
export function writtenBytes(processes: readonly number[]): number {
  return processes.reduce((sum, pid) => sum + writtenByProcess(pid), 0);
}

export function watchDisk({ processes, before, leftBytes, reserve, onExcess }: DiskWatchOptions): DiskWatch {
  let written = 0;
  let isOver = false;

  async function measure(): Promise<void> {
    written = Math.max(written, writtenBytes(processes()) - before);
    if (isOver || written <= alwaysAllowedBytes) return;
    const isServerFull = (await freeDisk(reserve).catch(() => 1)) <= 0;
    // Meanwhile the request may have ended.
    if (isOver) return;
    if (!isServerFull && (leftBytes === null || written <= leftBytes)) return;
    isOver = true;
    onExcess(isServerFull ? serverFull : environmentFull);
  }

  const isFull = leftBytes !== null && leftBytes <= alwaysAllowedBytes;
  let timer: NodeJS.Timeout | null = null;

  function measureLater(isWriting: boolean): void {
    const { usual, short } = intervalMilliseconds;
    timer = setTimeout(() => void measureAgain(), isFull || isWriting ? short : usual);
    timer.unref();
  }

  async function measureAgain(): Promise<void> {
    const writtenBefore = written;
    await measure().catch(() => undefined);
    if (!isOver) measureLater(written > writtenBefore);
  }

  measureLater(false);

  return {
    end: async () => {
      if (timer !== null) clearTimeout(timer);
      isOver = true;
      await measure();
      return written;
    },
  };
}
