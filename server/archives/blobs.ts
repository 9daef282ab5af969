/** Blob storage for archives: the interface that folders and object stores implement. */

/** The blob is missing or too short. */
export class BlobMissing extends Error {
  override readonly name = "BlobMissing";
  constructor(name: string, options?: ErrorOptions) {
    super(`${name} is missing or too short.`, options);
  }
}

/** Names consist of letters, digits and hyphens, in folders: `packs/<company>/<id>`. */
export interface Blobs {
  /** Atomic and durable. Replaces an existing blob of the same name. */
  put(name: string, content: Buffer, signal: AbortSignal): Promise<void>;
  /** Rejects with `BlobMissing` if the blob is shorter. The result may use `memory`, which must be at least `length` long. */
  read(name: string, start: number, length: number, signal: AbortSignal, memory?: Buffer): Promise<Buffer>;
  /** Sizes by name of all blobs below the folder. */
  list(folder: string, signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
  /** Does nothing if there is no such blob. */
  remove(name: string): Promise<void>;
}

const namePattern = /^[0-9A-Za-z-]+(?:\/[0-9A-Za-z-]+)*$/;

/** Throws if the name is invalid, which is a bug: names are generated. */
export function checkBlobName(name: string): void {
  if (!namePattern.test(name)) throw new Error(`Invalid blob name: ${name}`);
}
