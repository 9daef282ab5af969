/** Helpers for folders with durable content. */
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "../durableFile.ts";

/** Whether an error means that the path does not exist. */
export function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/** Creates the folder and its parents with mode 0700, durably. */
export async function makeLastingFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let created = folder; created.length >= first.length; created = dirname(created)) {
    await syncFolder(dirname(created));
  }
}
