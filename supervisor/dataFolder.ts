/** Opens the data folder at startup, and explains errors caused by its disk. */
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { dirname, relative } from "node:path";
import type { Config } from "@sitewright/server/settings/config.ts";
import { type DataLock, lockData } from "./dataLock.ts";

/** Creates the folder if missing and takes its lock. Throws a user-facing error if either fails. */
export function openDataFolder(data: string): DataLock {
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    return lockData(data);
  } catch (error) {
    const code = codeOf(error);
    // `AlreadyRunning` and full disks have their own messages.
    if (code === null || isAboutFullDisk(messageOf(error))) {
      throw error;
    }
    throw new Error(
      `The folder ${data} can't be used: ${reasonFor(data, code)}. ` +
        "Set SITEWRIGHT_DATA to a folder that this user can write to.",
      { cause: error },
    );
  }
}

/** The error's message, or one about the full disk if that is the cause. */
export function explainStartError(error: unknown, { data, assets }: Pick<Config, "data" | "assets">): string {
  const message = messageOf(error);
  const folders = [`SITEWRIGHT_DATA (${data})`, ...(isBelow(assets, data) ? [] : [`SITEWRIGHT_ASSETS (${assets})`])];
  const isOnOtherDisk = [data, assets].every((folder) => !isBelow(pathOf(error) ?? folder, folder));
  if (!isAboutFullDisk(message) || isOnOtherDisk) {
    return message;
  }
  return (
    `The disk of ${folders.join(" or of ")} is full. ` +
    "Free some space, then start again: startup continues where it stopped."
  );
}

/** Matches the messages of Node and of databases, because errors of child processes arrive as text. */
function isAboutFullDisk(message: string): boolean {
  return /ENOSPC|EDQUOT|No space left|Disk quota exceeded|disk is full|not enough room|could not extend file/i.test(
    message,
  );
}

/** On a read-only disk, mkdir fails with ENOENT. The nearest existing parent folder has the real reason. */
function reasonFor(data: string, code: string): string {
  const reasons: Readonly<Record<string, string>> = {
    EEXIST: "it is a file, not a folder",
    ENOTDIR: "a part of its path is a file, not a folder",
    EROFS: "its disk is read-only",
    EACCES: "this user has no permission to write there",
    EPERM: "this user has no permission to write there",
  };
  const known = code === "ENOENT" ? writeError(nearestExisting(data)) : code;
  return reasons[known] ?? `it can't be created or written to (${known})`;
}

function writeError(folder: string): string {
  try {
    accessSync(folder, constants.W_OK);
    return "ENOENT";
  } catch (error) {
    return codeOf(error) ?? "ENOENT";
  }
}

/** The path itself, or the innermost of its parent folders that exists. */
export function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

function isBelow(path: string, folder: string): boolean {
  return !/^\.\.(\/|$)/.test(relative(folder, path));
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

function pathOf(error: unknown): string | null {
  return error instanceof Error && "path" in error && typeof error.path === "string" ? error.path : null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
