/**
 * A disk with a volatile cache, in memory. A write is lasting once a flush has followed it. When the power fails, each sector that was
 * written since the last flush has either its lasting content or any of the later ones: real disks write sectors in any order.
 */

export const sectorBytes = 512;

/** The effect of a power cut. */
export interface PowerCut {
  /** Sectors that had content which was not lasting. */
  readonly unflushedSectors: number;
  /** How many of them have lost their newest content. */
  readonly lostSectors: number;
}

export class VolatileDisk {
  readonly #lasting: Buffer;
  /** The content of each sector since the last flush, oldest first. */
  #unflushed = new Map<number, Buffer[]>();

  /** `content`: the durable content, in whole sectors. It is changed. */
  constructor(content: Buffer) {
    this.#lasting = content;
    this.#check(0, content.length);
  }

  get bytes(): number {
    return this.#lasting.length;
  }

  read(offset: number, length: number): Buffer {
    this.#check(offset, length);
    const content = Buffer.from(this.#lasting.subarray(offset, offset + length));
    for (let at = 0; at < length; at += sectorBytes)
      this.#unflushed
        .get(offset + at)
        ?.at(-1)
        ?.copy(content, at);
    return content;
  }

  write(offset: number, content: Buffer): void {
    this.#check(offset, content.length);
    for (let at = 0; at < content.length; at += sectorBytes) {
      const sector = Buffer.from(content.subarray(at, at + sectorBytes));
      const earlier = this.#unflushed.get(offset + at);
      if (earlier === undefined) this.#unflushed.set(offset + at, [sector]);
      else earlier.push(sector);
    }
  }

  /** Writes content that is lasting at once. Other content stays as it is. */
  writeThrough(offset: number, content: Buffer): void {
    this.#check(offset, content.length);
    content.copy(this.#lasting, offset);
    for (let at = 0; at < content.length; at += sectorBytes) this.#unflushed.delete(offset + at);
  }

  flush(): void {
    for (const [offset, versions] of this.#unflushed) versions.at(-1)?.copy(this.#lasting, offset);
    this.#unflushed.clear();
  }

  /**
   * Cuts the power. `keptShare`: how likely the disk has written a sector since the last flush, between 0 and 1. `random`: as
   * `Math.random`.
   */
  cutPower(keptShare: number, random: () => number): PowerCut {
    const unflushed = this.#unflushed;
    this.#unflushed = new Map();
    let lostSectors = 0;
    for (const [offset, versions] of unflushed) {
      const chosen = random() < keptShare ? Math.floor(random() * versions.length) : -1;
      versions[chosen]?.copy(this.#lasting, offset);
      if (chosen !== versions.length - 1) lostSectors += 1;
    }
    return { unflushedSectors: unflushed.size, lostSectors };
  }

  #check(offset: number, length: number): void {
    if (offset % sectorBytes !== 0 || length % sectorBytes !== 0)
      throw new Error(`The range ${offset} + ${length} is not in whole sectors of ${sectorBytes} bytes.`);
    if (offset < 0 || offset + length > this.#lasting.length)
      throw new Error(`The range ${offset} + ${length} is outside of the disk of ${this.#lasting.length} bytes.`);
  }
}
