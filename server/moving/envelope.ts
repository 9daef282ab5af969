/**
 * A file that only a passphrase opens, in the format of `age` (https://age-encryption.org), so that the `age` tool opens
 * it too. Whoever reads it gets what was written, in order, or an error: a file that was cut off or changed is found out.
 */
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ReadableStream } from "node:stream/web";
import { Decrypter, Encrypter } from "age-encryption";
import { syncFolder } from "../durableFile.ts";

/** A sentence for the person about a file that can't be written or read. */
export class UnusableFile extends Error {
  override readonly name = "UnusableFile";
}

export interface SealOptions {
  readonly file: string;
  readonly passphrase: string;
  /** Whether a file that is there is replaced. */
  readonly isForced: boolean;
  /** The cost of trying a passphrase is 2 to this power. */
  readonly workFactor?: number;
}

/** An attacker needs half a second to a few seconds per passphrase. */
const usualWorkFactor = 18;

/** Throws `UnusableFile` if the file is there, and is not to be replaced, or has no folder to be in. */
export async function checkPlace({ file, isForced }: Pick<SealOptions, "file" | "isForced">): Promise<void> {
  const folder = await stat(dirname(file)).catch(() => null);
  if (!folder?.isDirectory()) throw new UnusableFile(`There is no folder ${dirname(file)}. Make it, or name another.`);
  const found = await stat(file).catch(() => null);
  if (found === null || (isForced && found.isFile())) return;
  const what = found.isFile() ? "is there already. Name another file, or add --force to replace it" : "is not a file";
  throw new UnusableFile(`${file} ${what}.`);
}

/**
 * Writes the file whole or not at all, for its owner alone. Returns its bytes. Rejects with `UnusableFile` if it can't be
 * in that place, and with whatever `content` rejects with.
 */
export async function sealFile(options: SealOptions, content: AsyncIterable<Uint8Array>): Promise<number> {
  const { file, passphrase, workFactor = usualWorkFactor } = options;
  await checkPlace(options);
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(workFactor);
  const beside = `${file}.part`;
  await rm(beside, { force: true });
  let bytes = 0;
  try {
    const handle = await open(beside, "wx", 0o600);
    try {
      for await (const chunk of await encrypter.encrypt(ReadableStream.from(content))) {
        await handle.writeFile(chunk);
        bytes += chunk.length;
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await checkPlace(options);
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
  return bytes;
}

export interface Sealed {
  /** What was sealed, from its beginning at each call. Rejects with `UnusableFile` if the file was cut off or changed. */
  content(): AsyncIterable<Uint8Array>;
}

/** Rejects with `UnusableFile` if the file is not there, is something else, or the passphrase does not open it. */
export async function openSealed(file: string, passphrase: string): Promise<Sealed> {
  const header = new Decrypter();
  header.addPassphrase(passphrase);
  // The passphrase is worked on once; the file is read more than once.
  const key = await header.decryptHeader(await readHeader(file)).catch((cause: Error) => {
    if (!cause.message.startsWith("no identity matched")) throw notOurs(file, cause);
    throw new UnusableFile(`The passphrase does not open ${file}. Nothing was changed: try again with the right one.`, {
      cause,
    });
  });
  return { content: () => decrypt(file, key) };
}

function notOurs(file: string, cause?: unknown): UnusableFile {
  return new UnusableFile(
    `${file} is not a backup of an installation, or its beginning is damaged. Nothing was changed: take another copy of it.`,
    { cause },
  );
}

function damaged(file: string, cause?: unknown): UnusableFile {
  return new UnusableFile(
    `${file} is damaged or was cut off. Nothing was changed: take another copy of it, or another backup.`,
    { cause },
  );
}

/** A passphrase's is some 150 bytes long. */
const longestHeader = 4_096;
const endOfHeader = /\n--- [A-Za-z0-9+/]{43}\n/;

async function readHeader(file: string): Promise<Uint8Array> {
  const handle = await open(file, "r").catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === "ENOENT" ? "is not there" : `can't be read (${cause.code})`;
    throw new UnusableFile(`${file} ${why}. Nothing was changed.`, { cause });
  });
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(longestHeader), 0, longestHeader, 0);
    const text = buffer.subarray(0, bytesRead).toString("latin1");
    const end = endOfHeader.exec(text);
    if (end === null) throw notOurs(file);
    return buffer.subarray(0, end.index + end[0].length);
  } catch (cause) {
    throw cause instanceof UnusableFile ? cause : notOurs(file, cause);
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
