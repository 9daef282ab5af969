/**
 * Files that are encrypted with a passphrase, in the format of `age` (https://age-encryption.org), so that the `age` tool can
 * decrypt them too. Truncated and modified files are detected.
 */
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ReadableStream } from "node:stream/web";
import { Decrypter, Encrypter } from "age-encryption";
import { syncFolder } from "../durableFile.ts";

/** A file can't be written or read. The message is shown to the user. */
export class UnusableFile extends Error {
  override readonly name = "UnusableFile";
}

export interface SealOptions {
  readonly file: string;
  readonly passphrase: string;
  /** Whether an existing file is replaced. */
  readonly isForced: boolean;
  /** Base-2 logarithm of the scrypt cost. */
  readonly workFactor?: number;
}

/** An attacker needs half a second to a few seconds per passphrase. */
const defaultWorkFactor = 18;

/** Throws `UnusableFile` if the file exists and must not be replaced, or its folder does not exist. */
export async function checkTarget({ file, isForced }: Pick<SealOptions, "file" | "isForced">): Promise<void> {
  const folder = await stat(dirname(file)).catch(() => null);
  if (!folder?.isDirectory())
    throw new UnusableFile(`There is no folder ${dirname(file)}. Create it, or choose another.`);
  const found = await stat(file).catch(() => null);
  if (found === null || (isForced && found.isFile())) return;
  const problem = found.isFile()
    ? "already exists. Choose another file, or add --force to replace it"
    : "is not a file";
  throw new UnusableFile(`${file} ${problem}.`);
}

/**
 * Writes the file completely or not at all, readable by its owner only. Returns its size in bytes. Rejects with `UnusableFile`
 * if it can't be written, and with the error of `content` if that rejects.
 */
export async function sealFile(options: SealOptions, content: AsyncIterable<Uint8Array>): Promise<number> {
  const { file, passphrase, workFactor = defaultWorkFactor } = options;
  await checkTarget(options);
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(workFactor);
  const temporary = `${file}.part`;
  await rm(temporary, { force: true });
  let bytes = 0;
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      for await (const chunk of await encrypter.encrypt(ReadableStream.from(content))) {
        await handle.writeFile(chunk);
        bytes += chunk.length;
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await checkTarget(options);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
  return bytes;
}

export interface Sealed {
  /** Yields the decrypted content, from the start at each call. Rejects with `UnusableFile` if it is truncated or modified. */
  content(): AsyncIterable<Uint8Array>;
}

/** Rejects with `UnusableFile` if the file does not exist, is not a backup, or the passphrase is wrong. */
export async function openSealed(file: string, passphrase: string): Promise<Sealed> {
  const header = new Decrypter();
  header.addPassphrase(passphrase);
  // Derives the key once, since that is slow and the file is read several times.
  const key = await header.decryptHeader(await readHeader(file)).catch((cause: Error) => {
    if (!cause.message.startsWith("no identity matched")) throw notABackup(file, cause);
    throw new UnusableFile(`The passphrase is wrong for ${file}. Nothing was changed. Try again.`, { cause });
  });
  return { content: () => decrypt(file, key) };
}

function notABackup(file: string, cause?: unknown): UnusableFile {
  return new UnusableFile(
    `${file} is not a backup of an installation, or its beginning is damaged. Nothing was changed. Use another copy of it.`,
    { cause },
  );
}

function damaged(file: string, cause?: unknown): UnusableFile {
  return new UnusableFile(
    `${file} is damaged or truncated. Nothing was changed. Use another copy of it, or another backup.`,
    { cause },
  );
}

/** The header for a passphrase has about 150 bytes. */
const maxHeaderBytes = 4_096;
const endOfHeader = /\n--- [A-Za-z0-9+/]{43}\n/;

async function readHeader(file: string): Promise<Uint8Array> {
  const handle = await open(file, "r").catch((cause: NodeJS.ErrnoException) => {
    const problem = cause.code === "ENOENT" ? "does not exist" : `can't be read (${cause.code})`;
    throw new UnusableFile(`${file} ${problem}. Nothing was changed.`, { cause });
  });
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxHeaderBytes), 0, maxHeaderBytes, 0);
    const text = buffer.subarray(0, bytesRead).toString("latin1");
    const end = endOfHeader.exec(text);
    if (end === null) throw notABackup(file);
    return buffer.subarray(0, end.index + end[0].length);
  } catch (cause) {
    throw cause instanceof UnusableFile ? cause : notABackup(file, cause);
  } finally {
    await handle.close();
  }
}

async function* decrypt(file: string, key: Uint8Array): AsyncGenerator<Uint8Array> {
  const handle = await open(file, "r");
  try {
    const decrypter = new Decrypter();
    decrypter.addIdentity({ unwrapFileKey: () => key });
    const content = await decrypter.decrypt(handle.readableWebStream({ autoClose: false }));
    for await (const chunk of content) yield chunk;
  } catch (cause) {
    throw damaged(file, cause);
  } finally {
    await handle.close();
  }
}
