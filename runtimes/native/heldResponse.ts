/**
 * The content of a response that is held back until it is known to be valid. PHP never waits for the visitor: the beginning is kept in
 * memory, and the rest in a file without a name.
 */
import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, unlink } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { type DiskReserve, freeDisk } from "../freeDisk.ts";

/** The room for held responses, in memory and files together. */
export interface HeldBudget {
  /** Returns false, and takes nothing, if that is more than is left for the company or for all. */
  take(companyId: string, bytes: number): boolean;
  /** Returns bytes to the budget. */
  give(companyId: string, bytes: number): void;
}

interface HeldBudgetOptions {
  /** For each company. */
  readonly companyBytes: number;
  /** For all together. */
  readonly totalBytes: number;
}

interface HeldOptions {
  readonly companyId: string;
  readonly budget: HeldBudget;
  /** For the file, on a disk and closed to others. Is made if it doesn't exist. */
  readonly folder: string;
  /** Of the same disk. */
  readonly reserve: DiskReserve;
  /** Called once if there is no room for the response, in the budget or on the disk. Must end PHP. */
  readonly onExcess: () => void;
}

const maxMemoryBytes = 16 << 20;
const pieceBytes = 64 << 10;
/** Between two looks at the disk. */
const checkedBytes = 16 << 20;

export function createHeldBudget({ companyBytes, totalBytes }: HeldBudgetOptions): HeldBudget {
  const usedBy = new Map<string, number>();
  let used = 0;
  return {
    take: (companyId, bytes) => {
      const ofCompany = (usedBy.get(companyId) ?? 0) + bytes;
      if (ofCompany > companyBytes || used + bytes > totalBytes) return false;
      usedBy.set(companyId, ofCompany);
      used += bytes;
      return true;
    },
    give: (companyId, bytes) => {
      const left = (usedBy.get(companyId) ?? 0) - bytes;
      if (left > 0) usedBy.set(companyId, left);
      else usedBy.delete(companyId);
      used -= bytes;
    },
  };
}

/**
 * Reads the content to its end. Returns it as another stream, whose file is closed with it; null if it broke off or there is no room.
 * It counts towards the budget until that stream closes. Never rejects.
 */
export async function holdContent(source: Readable, options: HeldOptions): Promise<Readable | null> {
  const beginning: Buffer[] = [];
  let file: SpillFile | null = null;
  let bytes = 0;
  /** Returns false if there is no room. */
  const keep = async (chunk: Buffer) => {
    if (!options.budget.take(options.companyId, chunk.length)) return false;
    bytes += chunk.length;
    if (bytes > maxMemoryBytes) {
      file ??= await SpillFile.open(options);
      return file.append(chunk);
    }
    beginning.push(chunk);
    return true;
  };
  const release = async () => {
    await file?.close();
    options.budget.give(options.companyId, bytes);
  };
  const drop = async () => {
    await release();
    return null;
  };
  try {
    for await (const chunk of source) {
      // A disk that fails has no room either.
      if (await keep(chunk).catch(() => false)) continue;
      options.onExcess();
      return await drop();
    }
  } catch {
    return drop();
  }
  const content = contentOf(beginning, file);
  content.once("close", () => void release());
  return content;
}

function contentOf(beginning: readonly Buffer[], file: SpillFile | null): Readable {
  const content = new Readable({
    read: () => {
      if (file === null) content.push(null);
      else
        file.next().then(
          (piece) => content.push(piece),
          (error) => content.destroy(error),
        );
    },
  });
  for (const chunk of beginning) content.push(chunk);
  return content;
}

class SpillFile {
  readonly #handle: FileHandle;
  readonly #reserve: DiskReserve;
  #written = 0;
  #read = 0;

  private constructor(handle: FileHandle, reserve: DiskReserve) {
    this.#handle = handle;
    this.#reserve = reserve;
  }

  static async open({ folder, reserve }: HeldOptions): Promise<SpillFile> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = path.join(folder, `${randomBytes(8).toString("hex")}.held`);
    const handle = await open(name, "wx+", 0o600);
    // Nothing stays, even if this process is killed.
    await unlink(name);
    return new SpillFile(handle, reserve);
  }

  /** Returns false if there is no room. */
  async append(chunk: Buffer): Promise<boolean> {
    const before = this.#written;
    this.#written += chunk.length;
    const isDue = Math.floor(before / checkedBytes) !== Math.floor(this.#written / checkedBytes);
    if (isDue && (await freeDisk(this.#reserve)) <= 0) return false;
    await this.#handle.writeFile(chunk);
    return true;
  }

  /** Returns the next piece, or null at the end. */
  async next(): Promise<Buffer | null> {
    const { buffer, bytesRead } = await this.#handle.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, this.#read);
    this.#read += bytesRead;
    return bytesRead === 0 ? null : buffer.subarray(0, bytesRead);
  }

  /** Never rejects: even if the disk fails, the file is gone. */
  async close(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
  }
}
