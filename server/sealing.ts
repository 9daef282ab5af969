/**
 * Encrypts small secrets for storage: AES-256-GCM with the newest key of a file outside the database.
 *
 * Sealed bytes consist of a mark, the id of the key, nonce, tag and ciphertext. Those of earlier versions lack mark and id.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { type FileKey, fixedKeys, type KeySource, openKeySource, readKeySource } from "./keyFile.ts";

export interface Sealer {
  /**
   * Seals `text` for one purpose. `context` is not stored, and must be the same when opening, so a secret of one operation
   * can't be used in another.
   */
  seal(text: string, context: string): Buffer;
  /** Throws if the bytes were not sealed with one of the keys for this context, or were changed. */
  open(sealed: Buffer, context: string): string;
  /** Whether the bytes were sealed with the newest key. */
  isCurrent(sealed: Buffer): boolean;
}

const mark = Buffer.from("swk1");
const idBytes = 8;
const nonceBytes = 12;
const tagBytes = 16;
/** Length of the mark and the id of a key. */
const prefixBytes = mark.length + idBytes;

/** The beginning of everything that is sealed with the key. */
export const sealPrefix = ({ id }: FileKey): Buffer => Buffer.concat([mark, id]);

/** `key` is 32 random bytes. */
export function makeSealer(key: Buffer): Sealer {
  return sealerOf(fixedKeys(key));
}

/** Reads the keys from `file`, or creates one. Notices when the keys change. */
export async function openSealer(file: string): Promise<Sealer> {
  return sealerOf(await openKeySource(file));
}

/** Like `openSealer`, but returns null if the file is missing. */
export function readSealer(file: string): Sealer | null {
  const keys = readKeySource(file);
  return keys && sealerOf(keys);
}

/** A sealer that always uses the source's current keys. */
export function sealerOf(source: KeySource): Sealer {
  return {
    seal: (text, context) => {
      const key = source.newest();
      return Buffer.concat([sealPrefix(key), encrypt(text, context, key)]);
    },
    open: (sealed, context) => {
      const keys = source.all();
      // Only the oldest key can have sealed something without its id.
      if (!sealed.subarray(0, mark.length).equals(mark)) return decrypt(sealed, context, keys.at(-1) ?? keys[0]);
      const id = sealed.subarray(mark.length, prefixBytes);
      const key = keys.find((each) => each.id.equals(id));
      if (!key) throw new Error(`This was sealed with the key ${id.toString("hex")}, which is not in the key file.`);
      return decrypt(sealed.subarray(prefixBytes), context, key);
    },
    isCurrent: (sealed) => sealed.subarray(0, prefixBytes).equals(sealPrefix(source.newest())),
  };
}

function encrypt(text: string, context: string, { bytes }: FileKey): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", bytes, nonce).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

function decrypt(sealed: Buffer, context: string, { bytes }: FileKey): string {
  const nonce = sealed.subarray(0, nonceBytes);
  const tag = sealed.subarray(nonceBytes, nonceBytes + tagBytes);
  const decipher = createDecipheriv("aes-256-gcm", bytes, nonce, { authTagLength: tagBytes })
    .setAAD(Buffer.from(context))
    .setAuthTag(tag);
  const body = sealed.subarray(nonceBytes + tagBytes);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
}
