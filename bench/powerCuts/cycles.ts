/** Cuts a virtual machine's power again and again while WordPress writes in it, and counts what is missing afterwards. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startMachine } from "./machine.ts";
import { type NbdServer, serveDisk } from "./nbdServer.ts";
import { seededRandom } from "./random.ts";
import { type PowerCut, sectorBytes, VolatileDisk } from "./volatileDisk.ts";

export interface CycleOptions {
  readonly cuts: number;
  /** Repeats the choices of this program; the machine's timing differs. */
  readonly seed: number;
  /** How SQLite synchronises: `product`, or a value of its pragma. */
  readonly synchronous: string;
  readonly kernel: string;
  readonly rootImage: string;
  /** The content of the disk at first, which is changed. */
  readonly disk: Buffer;
  /** Folder for the socket and the console's output. Its path is short. */
  readonly folder: string;
  /** Gets progress messages. */
  readonly log: (line: string) => void;
}

export interface CycleResults {
  /** Rows that WordPress was told are stored. */
  readonly acknowledgedRows: number;
  /** Those of them that a later start did not find. */
  readonly lostRows: readonly string[];
  /** After how many cuts a row was missing. */
  readonly cutsWithLostRows: number;
  /** What was found damaged: rows with other content, and errors of SQLite and the file system. */
  readonly damage: readonly string[];
  /** Sectors that the cuts have lost. */
  readonly lostSectors: number;
  /** SQLite's settings of the site. */
  readonly settings: string;
}

const writers = 3;
/** The cut comes after 1 to this many stored rows. */
const mostRows = 25;
/** Half of the cuts come at once after a row, the others up to this much later. */
const mostDelayMilliseconds = 400;
const bootMilliseconds = 240_000;

/** What one start of the machine has told. */
interface Told {
  readonly found: Set<string>;
  readonly stored: string[];
  readonly damage: string[];
  settings: string;
}

export async function cutPowerAgainAndAgain(options: CycleOptions): Promise<CycleResults> {
  const { cuts, seed, folder, log } = options;
  const random = seededRandom(seed);
  const disk = new VolatileDisk(options.disk);
  const socket = join(folder, "disk.sock");
  await using server = await serveDisk(disk, socket);
  const acknowledged = new Set<string>();
  const lost = new Set<string>();
  const damage: string[] = [];
  let [cutsWithLostRows, lostSectors, settings] = [0, 0, ""];
  for (let cycle = 1; cycle <= cuts + 1; cycle += 1) {
    const isLast = cycle > cuts;
    const { told, cut } = await runUntilCut({ ...options, socket, cycle, disk, server, random, isLast });
    const missing = [...acknowledged].filter((id) => !told.found.has(id) && !lost.has(id));
    for (const id of missing) lost.add(id);
    for (const id of told.stored) acknowledged.add(id);
    if (missing.length > 0) cutsWithLostRows += 1;
    damage.push(...told.damage);
    lostSectors += cut.lostSectors;
    settings = told.settings;
    const outcome = `${told.found.size} rows found, ${missing.length} missing${missing.map((id) => ` ${id}`).join("")}`;
    const sectors = `${cut.lostSectors} of ${cut.unflushedSectors} unflushed sectors lost`;
    log(`start ${cycle}: ${outcome}${isLast ? "" : `; then ${told.stored.length} stored; ${sectors}`}`);
    for (const line of told.damage) log(`start ${cycle}: ${line}`);
  }
  return { acknowledgedRows: acknowledged.size, lostRows: [...lost], cutsWithLostRows, damage, lostSectors, settings };
}

interface CycleRun extends Omit<CycleOptions, "disk"> {
  readonly socket: string;
  readonly cycle: number;
  readonly disk: VolatileDisk;
  readonly server: NbdServer;
  readonly random: () => number;
  /** Whether the machine only checks. */
  readonly isLast: boolean;
}

async function runUntilCut(run: CycleRun): Promise<{ readonly told: Told; readonly cut: PowerCut }> {
  const { random, isLast } = run;
  const told: Told = { found: new Set(), stored: [], damage: [], settings: "" };
  const rowsUntilCut = isLast ? Number.POSITIVE_INFINITY : 1 + Math.floor(random() * mostRows);
  const delay = random() < 0.5 ? 0 : random() * mostDelayMilliseconds;
  // Sometimes the disk has written nothing since the last flush.
  const keptShare = random() < 0.3 ? 0 : random();
  const { promise: isCut, resolve, reject } = Promise.withResolvers<PowerCut>();
  const consoleFile = join(run.folder, `console-${run.cycle}.log`);
  let isDone = false;
  const cut = () => {
    if (isDone) return;
    isDone = true;
    // First the disk: QEMU may write until it has ended.
    run.server.disconnect();
    resolve(run.disk.cutPower(keptShare, random));
    machine.kill();
  };
  const machine = startMachine({
    kernel: run.kernel,
    rootImage: run.rootImage,
    diskSocket: run.socket,
    consoleFile,
    variables: { cycle: run.cycle, writers: isLast ? 0 : writers, synchronous: run.synchronous },
    onLine: (line) => {
      if (isDone) return;
      note(line, told, reject);
      if (told.stored.length >= rowsUntilCut) {
        if (delay === 0) cut();
        else setTimeout(cut, delay);
      }
      if (isLast && line === "checked") cut();
    },
  });
  const timer = setTimeout(() => reject(new Error("The virtual machine did not get to its cut.")), bootMilliseconds);
  const ended = machine.stopped.then((errors) => reject(new Error(`The virtual machine has stopped. ${errors}`)));
  try {
    return { told, cut: await isCut };
  } catch (error) {
    const printed = await readFile(consoleFile, "utf8");
    throw new Error(`Start ${run.cycle} failed. It printed: ${printed.slice(-2000)}`, { cause: error });
  } finally {
    clearTimeout(timer);
    machine.kill();
    await ended;
  }
}

function note(line: string, told: Told, reject: (error: Error) => void): void {
  const [word = "", rest = ""] = split(line);
  if (word === "found") told.found.add(rest);
  else if (word === "stored") told.stored.push(rest);
  else if (word === "settings") told.settings = rest;
  else if (word === "cache" && rest !== "write back")
    reject(new Error(`The virtual machine's disk has no volatile cache, but "${rest}".`));
  else if (line === "writers ended") reject(new Error("The virtual machine's writers have ended."));
  else if (word === "changed" || word === "damaged" || (word === "integrity" && rest !== "ok")) told.damage.push(line);
}

function split(line: string): readonly [string, string] {
  const end = line.indexOf(" ");
  return end === -1 ? [line, ""] : [line.slice(0, end), line.slice(end + 1)];
}

export const sectorsToKilobytes = (sectors: number): string => `${((sectors * sectorBytes) / 1000).toFixed(0)} KB`;
