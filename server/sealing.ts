/**
 * Encrypts small secrets for storage: AES-256-GCM with a key in a file outside the database.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { link, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder, writeDurableFile } from "./durableFile.ts";

export interface Sealer {
  /**
   * Seals `text` for one purpose. `context` is not stored, and must be the same when opening, so a secret of one operation
   * can't be used in another.
   */
  seal(text: string, context: string): Buffer;
  /** Throws if the bytes were not sealed with this key for this context, or were changed. */
  open(sealed: Buffer, context: string): string;
}

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** `key` is 32 random bytes. Sealed bytes consist of nonce, tag and ciphertext. */
export function makeSealer(key: Buffer): Sealer {
  if (key.length !== keyBytes) throw new Error(`A sealing key has ${keyBytes} bytes, not ${key.length}`);
  return {
    seal: (text, context) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    open: (sealed, context) => {
      const nonce = sealed.subarray(0, nonceBytes);
      const tag = sealed.subarray(nonceBytes, nonceBytes + tagBytes);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes })
        .setAAD(Buffer.from(context))
        .setAuthTag(tag);
      const body = sealed.subarray(nonceBytes + tagBytes);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
    },
  };
}

/**
 * Reads the key from `file`, or creates it (folder 0700, file 0600, durable before it is used). If several processes do so at
 * once, all get the same key.
 */
export async function openSealer(file: string): Promise<Sealer> {
  return makeSealer(await openKey(file));
}

/** Returns the key itself, 32 bytes, for other kinds of encryption. Reads or creates it like `openSealer`. */
export async function openKey(file: string): Promise<Buffer> {
  return (await readKey(file)) ?? (await createKey(file));
}

/** Returns null if the file is missing. Throws if it is not a key. */
export async function readKey(file: string): Promise<Buffer | null> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  });
  if (text === null) return null;
  const key = Buffer.from(text.trim(), "base64");
  if (key.length !== keyBytes) {
    throw new Error(
      `${file} is not a sealing key. Put the right file back: secrets that were sealed with it can't be opened otherwise.`,
    );
  }
  return key;
}

async function createKey(file: string): Promise<Buffer> {
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString("hex")}`;
  await writeDurableFile(temporary, `${randomBytes(keyBytes).toString("base64")}\n`);
  try {
    // A link, unlike a rename, fails if another process was first.
    await link(temporary, file);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    await rm(temporary);
  }
  await syncFolder(dirname(file));
  const key = await readKey(file);
  if (!key) throw new Error(`${file} vanished while it was created`);
  return key;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
