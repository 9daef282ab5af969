/** Where archives keep bytes: what a folder, an object store or anything like them must do. */

/** The bytes under a name are not there, or not all of them. */
export class BlobMissing extends Error {
  override readonly name = "BlobMissing";
  constructor(name: string, options?: ErrorOptions) {
    super(`There is nothing, or not enough, under ${name}.`, options);
  }
}

/** Names are letters, digits and hyphens, in folders: `packs/<company>/<id>`. */
export interface Blobs {
  /** Whole or not at all, and still there after a power failure. Again under the same name it replaces. */
  put(name: string, content: Buffer, signal: AbortSignal): Promise<void>;
  /** Rejects with `BlobMissing` if there are not so many bytes. What it gives may be in `memory`, which is long enough. */
  read(name: string, start: number, length: number, signal: AbortSignal, memory?: Buffer): Promise<Buffer>;
  /** Bytes by name, of what lies below the folder. */
  list(folder: string, signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
  /** Tolerates that there is none. */
  remove(name: string): Promise<void>;
}

const namePattern = /^[0-9A-Za-z-]+(?:\/[0-9A-Za-z-]+)*$/;

/** Throws if the name could lead elsewhere: names are made by us, so that is a bug. */
export function checkBlobName(name: string): void {
  if (!namePattern.test(name)) throw new Error(`Not the name of anything in an archive: ${name}`);
}
