/**
 * Pieces of backups: named by their content, compressed and encrypted.
 *
 * A piece's name is a keyed hash of its content. Within a company the same content has the same name, so it is stored once.
 * Each company has its own key, so names don't reveal whether another company has a file. A sealed piece is nonce, tag and
 * ciphertext of the content, which is compressed if that makes it smaller. It is bound to its name and can't pass for another
 * piece.
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
import { makeFileKey } from "../keyFile.ts";

/** Maximum size of a piece's content. */
export const pieceBytes = 1 << 20;

export class PieceDamaged extends Error {
  override readonly name = "PieceDamaged";
}

/** The keys of a company. They can be passed to a thread. */
export interface PieceKeys {
  readonly naming: KeyObject;
  readonly sealing: KeyObject;
}

export interface PieceBox {
  readonly keys: PieceKeys;
  /** The id of the archive key from which `keys` are derived. */
  readonly keyId: Buffer;
  /** Returns 32 bytes. */
  nameOf(content: Buffer): Buffer;
  seal(content: Buffer, name: Buffer): Buffer;
  /** Like `seal`, without concatenating the parts. */
  sealInParts(content: Buffer, name: Buffer): readonly Buffer[];
  /**
   * Also opens what was sealed with an older archive key. Throws `PieceDamaged` if any bit differs from what was sealed under
   * this name.
   */
  open(sealed: Buffer, name: Buffer): Buffer;
}

const keyBytes = 32;
/** Length of a name. */
export const nameBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
/** Maximum number of bytes by which a sealed piece is longer than its content. */
export const maxOverhead = nonceBytes + tagBytes + 1;
/** Fast rather than small: operations wait for backups, and most of the content is images, which don't compress. */
const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** Size of the sample that decides whether a piece is worth compressing. */
const sampleBytes = 64 << 10;
/** First byte of the plaintext. */
const [plain, compressed] = [Buffer.of(0), Buffer.of(1)];

/** Returns a key object: importing the bytes for each piece would take longer than naming a small one. */
function derive(key: Buffer, companyId: string, use: string): KeyObject {
  const derived = hkdfSync("sha256", key, "", `sitewright archive ${use} ${companyId}`, keyBytes);
  return createSecretKey(Buffer.from(derived));
}

/** A check value that identifies the key without revealing it. `mark` is mixed in. */
export function keyCheckOf(key: Buffer, mark: string): Buffer {
  return derive(key, mark, "check").export();
}

function isWorthCompressing(content: Buffer): boolean {
  if (content.length <= sampleBytes) return true;
  return zstdCompressSync(content.subarray(0, sampleBytes), fast).length < sampleBytes * 0.95;
}

/** The first part says how to read the rest. */
function pack(content: Buffer): readonly [Buffer, Buffer] {
  if (!isWorthCompressing(content)) return [plain, content];
  const smaller = zstdCompressSync(content, fast);
  return smaller.length < content.length ? [compressed, smaller] : [plain, content];
}

function unpack(packed: Buffer): Buffer {
  const body = packed.subarray(1);
  return packed[0] === compressed[0] ? zstdDecompressSync(body, { maxOutputLength: pieceBytes }) : body;
}

/**
 * `key` is the installation's: 32 random bytes that are stored outside the archives. Pieces of `olderKeys`, newest first, can
 * be opened too.
 */
export function makePieceBox(key: Buffer, companyId: string, olderKeys: readonly Buffer[] = []): PieceBox {
  const newest = singleBox(key, companyId);
  const boxes = [newest, ...olderKeys.map((older) => singleBox(older, companyId))];
  return {
    ...newest,
    keyId: makeFileKey(key).id,
    open: (sealed, name) => {
      const failures: unknown[] = [];
      for (const box of boxes) {
        try {
          return box.open(sealed, name);
        } catch (error) {
          if (!(error instanceof PieceDamaged)) throw error;
          failures.push(error);
        }
      }
      throw failures[0];
    },
  };
}

function singleBox(key: Buffer, companyId: string) {
  return pieceBoxOf({ naming: derive(key, companyId, "name"), sealing: derive(key, companyId, "seal") });
}

/** A box with the keys of one archive key. */
export function pieceBoxOf(keys: PieceKeys): Omit<PieceBox, "keyId"> {
  const { naming, sealing } = keys;
  // On processors without SHA-256 instructions, such as many rented ones, BLAKE2 takes half the time.
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
      throw new PieceDamaged("A piece of a backup does not match its name.");
    },
  };
}
