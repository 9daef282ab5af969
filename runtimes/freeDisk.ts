/** The disk space that sites may use. Some is kept free, because the installation's database stops when the disk is full. */
import { type StatsFs, statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";

/** Where sites' files are, and how much of that disk they must leave free. */
export interface DiskReserve {
  readonly folder: string;
  readonly bytes: number;
}

function usable({ bavail, bsize }: StatsFs, { bytes }: DiskReserve): number {
  return bavail * bsize - bytes;
}

/** Bytes that sites may still use; negative if there is less free than the reserve. */
export async function freeDisk(reserve: DiskReserve): Promise<number> {
  return usable(await statfs(reserve.folder), reserve);
}

/** Like `freeDisk`. */
export function freeDiskSync(reserve: DiskReserve): number {
  return usable(statfsSync(reserve.folder), reserve);
}
