/**
 * The chunks of a body in memory. Small ones are copied into blocks: the visitor chooses their size, and each buffer costs
 * hundreds of bytes, whatever it holds.
 */
export interface Chunks {
  add(chunk: Buffer): void;
  /** Bytes that are held. */
  size(): number;
  /** What is held, in order. */
  buffers(): readonly Buffer[];
  clear(): void;
}

/** Smaller chunks are copied. Copying larger ones would cause much garbage collection, which delays other sites' visitors. */
export const blockBytes = 4_096;

export function createChunks(): Chunks {
  let complete: Buffer[] = [];
  let size = 0;
  /** The current block. From `begin` to `end` it holds what follows the complete buffers. */
  let block = Buffer.of();
  let begin = 0;
  let end = 0;

  function completePart(): void {
    if (end > begin) complete.push(block.subarray(begin, end));
    begin = end;
  }

  function copy(chunk: Buffer): void {
    if (end === block.length) {
      completePart();
      // Not from Node's pool, which the rest of a request could keep in memory.
      block = Buffer.allocUnsafeSlow(blockBytes);
      begin = 0;
      end = 0;
    }
    const copied = chunk.copy(block, end);
    end += copied;
    if (copied < chunk.length) copy(chunk.subarray(copied));
  }

  return {
    add(chunk) {
      size += chunk.length;
      if (chunk.length < blockBytes) return copy(chunk);
      completePart();
      complete.push(chunk);
    },
    size: () => size,
    buffers() {
      completePart();
      return complete;
    },
    clear() {
      complete = [];
      size = 0;
      block = Buffer.of();
      begin = 0;
      end = 0;
    },
  };
}
