/** The data folder at the start, and what a person is told where its disk is in the way. */
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { dirname, relative } from "node:path";
import type { Config } from "@sitewright/server/settings/config.ts";
import { type DataLock, lockData } from "./dataLock.ts";

/** Makes the folder where absent and takes its lock. Throws with a sentence for the person where either can't be. */
export function openDataFolder(data: string): DataLock {
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    return lockData(data);
  } catch (error) {
    const code = codeOf(error);
    // A lock that is held and a full disk have sentences of their own.
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

/** What `error` says, or that the disk is full where that is behind it. */
export function explainStart(error: unknown, { data, assets }: Pick<Config, "data" | "assets">): string {
  const message = messageOf(error);
  const folders = [`SITEWRIGHT_DATA (${data})`, ...(isBelow(assets, data) ? [] : [`SITEWRIGHT_ASSETS (${assets})`])];
  const isElsewhere = [data, assets].every((folder) => !isBelow(pathOf(error) ?? folder, folder));
  if (!isAboutFullDisk(message) || isElsewhere) {
    return message;
  }
  return (
    `The disk of ${folders.join(" or of ")} is full. ` +
    "Make room on it, then start again: the next start goes on where this one broke off."
  );
}

/** In the words of Node, PostgreSQL and SQLite: what a child met comes to us as text. */
function isAboutFullDisk(message: string): boolean {
  return /ENOSPC|EDQUOT|No space left|Disk quota exceeded|disk is full|not enough room/i.test(message);
}

/** On a disk that is read-only Node gives ENOENT for a folder that it can't make: the one above tells more. */
function reasonFor(data: string, code: string): string {
  const reasons: Readonly<Record<string, string>> = {
    EEXIST: "it is a file and not a folder",
    ENOTDIR: "a part of its path is a file and not a folder",
    EROFS: "its disk is read-only",
    EACCES: "this user has no permission to write there",
    EPERM: "this user has no permission to write there",
  };
  const known = code === "ENOENT" ? refusalOf(nearestThere(data)) : code;
  return reasons[known] ?? `it can't be made or written to (${known})`;
}

function refusalOf(folder: string): string {
  try {
    accessSync(folder, constants.W_OK);
    return "ENOENT";
  } catch (error) {
    return codeOf(error) ?? "ENOENT";
  }
}

function nearestThere(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestThere(dirname(path));
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
