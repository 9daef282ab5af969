/** Cuts a virtual machine's power again and again while WordPress writes in it, and counts what is missing afterwards. */
import { join } from "node:path";
import { type CutMoment, MachineFailure, runUntilCut, type Told } from "./cycle.ts";
import { serveDisk } from "./nbdServer.ts";
import { seededRandom } from "./random.ts";
import { type PowerCut, VolatileDisk } from "./volatileDisk.ts";

export interface CyclesOptions {
  readonly cuts: number;
  /** Repeats the choices of this program; the machine's timing differs. */
  readonly seed: number;
  /** How SQLite synchronises: `product`, or a value of its pragma. */
  readonly synchronous: string;
  readonly kernel: string;
  readonly rootImage: string;
  /** The content of the disk at first. */
  readonly disk: Buffer;
  /** Folder for the socket and the console's output. Its path is short. */
  readonly folder: string;
  /** Gets progress messages. */
  readonly log: (line: string) => void;
}

/** Rows, or versions of files. */
export interface Kept {
  /** How many the programs in the machine were told are stored. */
  readonly stored: number;
  /** How many of them a later start did not find. */
  readonly lost: number;
}

export interface CyclesResult {
  readonly rows: Kept;
  readonly files: Kept;
  /** Damage: rows and files with other content, and errors of SQLite and the file system. */
  readonly damage: readonly string[];
  /** Sectors whose newest content the cuts have lost. */
  readonly lostSectors: number;
  /** SQLite's settings of the site. */
  readonly settings: string;
}

const writers = 3;
/** The cut comes after 1 to this many stored rows and files. */
const mostRows = 25;
const mostDelayMilliseconds = 400;
const mostDiskWrites = 12;

export async function cutPowerAgainAndAgain(options: CyclesOptions): Promise<CyclesResult> {
  const { cuts, seed, synchronous, kernel, rootImage, folder, log } = options;
  const random = seededRandom(seed);
  const disk = new VolatileDisk(Buffer.from(options.disk));
  const diskSocket = join(folder, "disk.sock");
  let onWrite: () => void = () => undefined;
  await using server = await serveDisk(disk, diskSocket, () => onWrite());
  const ledger = new Ledger();
  for (let cycle = 1; cycle <= cuts + 1; cycle += 1) {
    const isLast = cycle > cuts;
    const moment = isLast ? null : chooseMoment(random);
    // Sometimes the disk has written nothing since the last flush.
    const keptShare = random() < 0.3 ? 0 : random();
    const run = runUntilCut({
      machine: { kernel, rootImage, diskSocket, consoleFile: join(folder, `console-${cycle}.log`) },
      variables: { cycle: isLast ? 0 : cycle, writers: isLast ? 1 : writers, synchronous },
      moment,
      listenToDisk: (listener) => {
        onWrite = listener;
      },
      cutPower: () => {
        // First the disk: QEMU may write until it has ended.
        server.disconnect();
        return disk.cutPower(keptShare, random);
      },
    });
    const outcome = await run.catch((error: unknown) => {
      // Before the first cut there is no damage.
      if (!(error instanceof MachineFailure) || cycle === 1) throw error;
      return error;
    });
    if (outcome instanceof MachineFailure) {
      log(`start ${cycle}: ${outcome.message}`);
      ledger.loseAll(outcome.message);
      break;
    }
    const { told, cut } = outcome;
    const missing = ledger.add(told, cut);
    log([`start ${cycle}: ${told.found.size} rows and files found, ${missing.length} missing`, ...missing].join(" "));
    for (const line of told.damage) log(`start ${cycle}: ${line}`);
    if (moment === null) continue;
    const sectors = `${cut.lostSectors} of ${cut.unflushedSectors} unflushed sectors lost`;
    log(`cut ${cycle}: ${told.stored.length} stored since, ${describe(moment)}, ${sectors}`);
  }
  return ledger.result();
}

/** The records that must exist, and the missing ones. */
class Ledger {
  readonly #stored = new Set<string>();
  readonly #lost = new Set<string>();
  readonly #damage: string[] = [];
  #lostSectors = 0;
  #settings = "";

  /** Returns the records that are newly missing. */
  add(told: Told, cut: PowerCut): readonly string[] {
    const missing = [...this.#stored].filter((id) => !told.found.has(id) && !this.#lost.has(id));
    for (const id of missing) this.#lost.add(id);
    for (const id of told.stored) this.#stored.add(id);
    this.#damage.push(...told.damage);
    this.#lostSectors += cut.lostSectors;
    this.#settings = told.settings;
    return missing;
  }

  /** Call if nothing can be read. */
  loseAll(damage: string): void {
    for (const id of this.#stored) this.#lost.add(id);
    this.#damage.push(damage);
  }

  result(): CyclesResult {
    const count = (isCounted: (id: string) => boolean): Kept => ({
      stored: [...this.#stored].filter(isCounted).length,
      lost: [...this.#lost].filter(isCounted).length,
    });
    return {
      rows: count((id) => !isFile(id)),
      files: count(isFile),
      damage: this.#damage,
      lostSectors: this.#lostSectors,
      settings: this.#settings,
    };
  }
}

const isFile = (id: string): boolean => id.includes("-file-");

/** A third each: at once after a row, some time later, and when the system writes to the disk. */
function chooseMoment(random: () => number): CutMoment {
  const rows = 1 + Math.floor(random() * mostRows);
  const kind = Math.floor(random() * 3);
  if (kind === 0) return { rows };
  if (kind === 1) return { rows, milliseconds: random() * mostDelayMilliseconds };
  return { rows, diskWrites: 1 + Math.floor(random() * mostDiskWrites) };
}

function describe({ milliseconds, diskWrites }: CutMoment): string {
  if (milliseconds !== undefined) return `cut ${milliseconds.toFixed(0)} ms later`;
  return diskWrites === undefined ? "cut at once" : `cut at write ${diskWrites} to the disk`;
}
