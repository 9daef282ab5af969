/**
 * The visitors of the day, to count each of them once. A visitor is known by a hash of address and browser with a salt that
 * exists for one day (UTC) only: nobody can tell later who it was, or recognise them on another day.
 */
import { hash, randomBytes } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync } from "node:fs";
import path from "node:path";
import { networkOf } from "../http/network.ts";

export interface Visitors {
  /** Whether this is the visitor's first call of the day. `now`: milliseconds since 1970. */
  isFirst(environmentId: string, address: string, userAgent: string, now: number): boolean;
  /** Writes new visitors to the file, so that a restarted edge does not count them again. */
  save(now: number): void;
}

const prefix = "visitors-";
const saltBytes = 16;
/** Among a million visitors, one in 280 million is taken for another. */
const hashBytes = 6;
/** Further visitors are not counted: about 50 MB of memory. No environment may use it alone. */
const maxVisitors = 1_000_000;
const maxOfEnvironment = 250_000;

interface Day {
  readonly name: string;
  readonly salt: Buffer;
  readonly known: Set<number>;
  readonly ofEnvironment: Map<string, number>;
  /** Whether the day's file exists. */
  isInFile: boolean;
}

/** `folder`: null keeps everything in memory. Throws if the day's file can't be read. */
export function openVisitors(folder: string | null, now: number): Visitors {
  const fileOf = (name: string) => (folder === null ? null : path.join(folder, `${prefix}${name}`));
  let day = readDay(nameOf(now), fileOf(nameOf(now))) ?? beginDay(nameOf(now));
  let unsaved: number[] = [];

  function dayAt(now: number): Day {
    const name = nameOf(now);
    if (name > day.name) {
      unsaved = [];
      day = beginDay(name);
    }
    return day;
  }

  return {
    isFirst(environmentId, address, userAgent, now) {
      const { known, ofEnvironment, salt } = dayAt(now);
      const number = numberOf(`${salt.toString("hex")}\n${environmentId}\n${networkOf(address)}\n${userAgent}`);
      const others = ofEnvironment.get(environmentId) ?? 0;
      if (known.has(number) || known.size >= maxVisitors || others >= maxOfEnvironment) return false;
      known.add(number);
      ofEnvironment.set(environmentId, others + 1);
      if (folder !== null) unsaved.push(number);
      return true;
    },
    save(now) {
      const { name, salt, isInFile } = dayAt(now);
      const file = fileOf(name);
      if (folder === null || file === null || (isInFile && unsaved.length === 0)) return;
      if (!isInFile) {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        removeAll(folder);
      }
      appendFileSync(file, Buffer.concat([...(isInFile ? [] : [salt]), bytesOf(unsaved)]), { mode: 0o600 });
      day.isInFile = true;
      unsaved = [];
    },
  };
}

const nameOf = (now: number): string => new Date(now).toISOString().slice(0, 10);

const numberOf = (text: string): number => hash("sha256", text, "buffer").readUIntBE(0, hashBytes);

function bytesOf(numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * hashBytes);
  for (const [index, number] of numbers.entries()) bytes.writeUIntBE(number, index * hashBytes, hashBytes);
  return bytes;
}

function beginDay(name: string): Day {
  return { name, salt: randomBytes(saltBytes), known: new Set(), ofEnvironment: new Map(), isInFile: false };
}

/** Null if there is none. The edge may have been killed in the middle of a number, which is cut off. */
function readDay(name: string, file: string | null): Day | null {
  const content = file === null || !existsSync(file) ? null : readFileSync(file);
  if (content === null || file === null || content.length < saltBytes) return null;
  const end = content.length - ((content.length - saltBytes) % hashBytes);
  if (end < content.length) truncateSync(file, end);
  const known = new Set<number>();
  for (let at = saltBytes; at < end; at += hashBytes) known.add(content.readUIntBE(at, hashBytes));
  return { name, salt: content.subarray(0, saltBytes), known, ofEnvironment: new Map(), isInFile: true };
}

/** Removes earlier days, and a file of the same day that was cut off before its salt. */
function removeAll(folder: string): void {
  for (const each of readdirSync(folder)) {
    if (each.startsWith(prefix)) rmSync(path.join(folder, each), { force: true });
  }
}
