/**
 * A file of secret keys, so that a key can be replaced while the old one is still needed: a line for each key, the newest
 * first, with 32 random bytes in base64 and the time at which it was made. Files of earlier versions have one key without a
 * time.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { link, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder, writeDurableFile } from "./durableFile.ts";

export interface FileKey {
  /** 8 bytes that identify the key, and don't reveal it. */
  readonly id: Buffer;
  readonly bytes: Buffer;
  /** Null: made by a version that did not note it. */
  readonly madeAt: Date | null;
}

/** The keys of a file, the newest first. */
export type FileKeys = readonly [FileKey, ...FileKey[]];

const keyBytes = 32;
const idBytes = 8;

export function makeFileKey(bytes: Buffer, madeAt: Date | null = null): FileKey {
  if (bytes.length !== keyBytes) throw new Error(`A key has ${keyBytes} bytes, not ${bytes.length}`);
  const id = createHash("sha256").update("sitewright key file\0").update(bytes).digest().subarray(0, idBytes);
  return { id, bytes, madeAt };
}

/**
 * Reads the keys from `file`, or creates one (folder 0700, file 0600, durable before it is used). If several processes do so
 * at once, all get the same key.
 */
export async function openKeys(file: string): Promise<FileKeys> {
  return readKeys(file) ?? (await createFile(file));
}

/** Returns null if the file is missing. Throws if it has no keys, or something else. */
export function readKeys(file: string): FileKeys | null {
  const text = textOf(file);
  if (text === null) return null;
  const [newest, ...older] = text
    .trim()
    .split("\n")
    .map((line) => parseLine(line, file));
  return newest === undefined ? null : [newest, ...older];
}

/** Keys that can change while they are used. */
export interface KeySource {
  newest(): FileKey;
  all(): FileKeys;
}

/** One key that does not change. */
export function fixedKeys(bytes: Buffer): KeySource {
  const keys: FileKeys = [makeFileKey(bytes)];
  return { newest: () => keys[0], all: () => keys };
}

/** The keys of a file, which is created if it is missing, and read again when it has changed. */
export async function openKeySource(file: string): Promise<KeySource> {
  return watchKeys(file, await openKeys(file));
}

/** Like `openKeySource`, but returns null if the file is missing. */
export function readKeySource(file: string): KeySource | null {
  const keys = readKeys(file);
  return keys && watchKeys(file, keys);
}

/** Keeps the last keys if the file vanishes. */
function watchKeys(file: string, initial: FileKeys): KeySource {
  let keys = initial;
  let version: string | null = null;
  const all = () => {
    const current = versionOf(file);
    if (current !== null && current !== version) {
      keys = readKeys(file) ?? keys;
      version = current;
    }
    return keys;
  };
  return { newest: () => all()[0], all };
}

/** Changes whenever the file is replaced; null if it is missing. */
function versionOf(file: string): string | null {
  const facts = statSync(file, { bigint: true, throwIfNoEntry: false });
  return facts ? `${facts.ino} ${facts.mtimeNs} ${facts.size}` : null;
}

/** Puts a new key first. The caller holds the lock of the rotation. */
export async function addKey(file: string): Promise<FileKeys> {
  const older = await openKeys(file);
  const keys: FileKeys = [makeFileKey(randomBytes(keyBytes), new Date()), ...older];
  await writeKeys(file, keys);
  return keys;
}

/** Removes the keys that are older than `key`. The caller holds the lock of the rotation. */
export async function removeKeysBefore(file: string, key: FileKey): Promise<void> {
  const [newest, ...older] = await openKeys(file);
  const last = [newest, ...older].findIndex(({ id }) => id.equals(key.id));
  if (last >= 0) await writeKeys(file, [newest, ...older.slice(0, last)]);
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}

function parseLine(line: string, file: string): FileKey {
  const [encoded = "", time] = line.trim().split(" ");
  const bytes = Buffer.from(encoded, "base64");
  const madeAt = time === undefined ? null : new Date(time);
  if (bytes.length !== keyBytes || (madeAt !== null && Number.isNaN(madeAt.getTime()))) {
    throw new Error(
      `${file} is not a key file. Put the right file back: secrets that were sealed with it can't be opened otherwise.`,
    );
  }
  return makeFileKey(bytes, madeAt);
}

function writeKeys(file: string, keys: FileKeys): Promise<void> {
  return writeDurableFile(file, textOfKeys(keys));
}

function textOfKeys(keys: FileKeys): string {
  return keys
    .map(({ bytes, madeAt }) => `${bytes.toString("base64")}${madeAt ? ` ${madeAt.toISOString()}` : ""}\n`)
    .join("");
}

async function createFile(file: string): Promise<FileKeys> {
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString("hex")}`;
  await writeDurableFile(temporary, textOfKeys([makeFileKey(randomBytes(keyBytes), new Date())]));
  try {
    // A link, unlike a rename, fails if another process was first.
    await link(temporary, file);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    await rm(temporary);
  }
  await syncFolder(dirname(file));
  const keys = readKeys(file);
  if (!keys) throw new Error(`${file} vanished while it was created`);
  return keys;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
