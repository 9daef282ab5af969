/**
 * Pieces of backups: named by their content, compressed, and unreadable without the key.
 *
 * A piece's name is a keyed hash of what is in it. The same content has the same name in a whole company, so that it is
 * kept once; another company has another key, so that nobody can find out by a name whether somebody else has a file.
 * What is kept is nonce, tag and ciphertext of the content, compressed where that makes it smaller. It is bound to its name: it can't be given out for
 * another piece.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

/** The most that a piece holds. */
export const pieceBytes = 1 << 20;

export class PieceDamaged extends Error {
  override readonly name = "PieceDamaged";
}

/** A company's. A thread can be given them. */
export interface PieceKeys {
  readonly naming: KeyObject;
  readonly sealing: KeyObject;
}

export interface PieceBox {
  readonly keys: PieceKeys;
  /** 32 bytes. */
  nameOf(content: Buffer): Buffer;
  seal(content: Buffer, name: Buffer): Buffer;
  /** The same before it is put together. */
  sealInParts(content: Buffer, name: Buffer): readonly Buffer[];
  /** Throws `PieceDamaged` if a single bit is another one than when it was sealed under this name. */
  open(sealed: Buffer, name: Buffer): Buffer;
}

const keyBytes = 32;
/** Of a name. */
export const nameBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
/** By so many bytes a sealed piece is longer than its content, at most. */
export const mostAdded = nonceBytes + tagBytes + 1;
/** A site waits for its backup, and most of it is pictures, which get no smaller. */
const quickly = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** Of so much of a piece it is tried whether compressing makes it smaller. */
const sampleBytes = 64 << 10;
/** First byte of what is encrypted. */
const [asItIs, compressed] = [Buffer.of(0), Buffer.of(1)];

/** As an object, because to take the bytes in again for each piece takes longer than to name a small one. */
function derive(key: Buffer, companyId: string, use: string): KeyObject {
  const derived = hkdfSync("sha256", key, "", `sitewright archive ${use} ${companyId}`, keyBytes);
  return createSecretKey(Buffer.from(derived));
}

/** Tells this key from any other, for those who know `mark`, and says nothing of it. */
export function keyCheckOf(key: Buffer, mark: string): Buffer {
  return derive(key, mark, "check").export();
}

function isWorthCompressing(content: Buffer): boolean {
  if (content.length <= sampleBytes) return true;
  return zstdCompressSync(content.subarray(0, sampleBytes), quickly).length < sampleBytes * 0.95;
}

/** In parts, the first of which says how the rest is to be read. */
function pack(content: Buffer): readonly [Buffer, Buffer] {
  if (!isWorthCompressing(content)) return [asItIs, content];
  const smaller = zstdCompressSync(content, quickly);
  return smaller.length < content.length ? [compressed, smaller] : [asItIs, content];
}

function unpack(packed: Buffer): Buffer {
  const body = packed.subarray(1);
  return packed[0] === compressed[0] ? zstdDecompressSync(body, { maxOutputLength: pieceBytes }) : body;
}

/** `key` is the installation's: 32 random bytes that are kept elsewhere than the archives. */
export function makePieceBox(key: Buffer, companyId: string): PieceBox {
  return pieceBoxOf({ naming: derive(key, companyId, "name"), sealing: derive(key, companyId, "seal") });
}

export function pieceBoxOf(keys: PieceKeys): PieceBox {
  const { naming, sealing } = keys;
  // Where a processor has no instructions for SHA-256, as many that are rented have not, this takes half of its time.
  const nameOf = (content: Buffer) => createHmac("blake2b512", naming).update(content).digest().subarray(0, nameBytes);

  function sealInParts(content: Buffer, name: Buffer): readonly Buffer[] {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", sealing, nonce).setAAD(name);
    const body = [...pack(content).map((part) => cipher.update(part)), cipher.final()];
    return [nonce, cipher.getAuthTag(), ...body];
  }

  return {
    keys,
    nameOf,
    seal: (content, name) => Buffer.concat(sealInParts(content, name)),
    sealInParts,
    open: (sealed, name) => {
      try {
        const nonce = sealed.subarray(0, nonceBytes);
        const decipher = createDecipheriv("aes-256-gcm", sealing, nonce, { authTagLength: tagBytes })
          .setAAD(name)
          .setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
        const packed = Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()]);
        const content = unpack(packed);
        if (nameOf(content).equals(name)) return content;
      } catch (cause) {
        throw new PieceDamaged("A piece of a backup is damaged.", { cause });
      }
      throw new PieceDamaged("A piece of a backup is another one than its name says.");
    },
  };
}
