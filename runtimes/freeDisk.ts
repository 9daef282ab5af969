/** The disk space that sites may use. Some is kept free, because the installation's database stops when the disk is full. */
import { type StatsFs, statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import path from "node:path";

/** Where sites' files are, and how much of that disk they must leave free. */
export interface DiskReserve {
  readonly folder: string;
  readonly bytes: number;
}

function usable({ bavail, bsize }: StatsFs, { bytes }: DiskReserve): number {
  return bavail * bsize - bytes;
}

/** Bytes that sites may still use; negative if there is less free than the reserve. The first site makes the folder. */
export async function freeDisk(reserve: DiskReserve): Promise<number> {
  const stats = await statfs(reserve.folder).catch(() => statfs(path.dirname(reserve.folder)));
  return usable(stats, reserve);
}

/** Like `freeDisk`. */
export function freeDiskSync(reserve: DiskReserve): number {
  return usable(statfsSync(reserve.folder), reserve);
}
