/**
 * The visitors of the day, to count each of them once. A visitor is known by a hash of address and browser with a salt that
 * exists for one day (UTC) only: nobody can tell later who it was, or recognise them on another day.
 */
import { hash, randomBytes } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync } from "node:fs";
import path from "node:path";
import { networkOf } from "../http/network.ts";
import { createKnownVisitors, type KnownVisitors, type Visitor } from "./knownVisitors.ts";

/** Whose page somebody visits. */
export interface VisitedSite {
  readonly environmentId: string;
  readonly companyId: string;
}

export interface Visitors {
  /** Whether this is the visitor's first call of the day. `now`: milliseconds since 1970. */
  isFirst(site: VisitedSite, address: string, userAgent: string, now: number): boolean;
  /** Writes new visitors to the file, so that a restarted edge does not count them again. */
  save(now: number): void;
}

const prefix = "visitors-";
const saltBytes = 16;
/** Among a million visitors, one in 280 million is taken for another. */
const hashBytes = 6;
/** Companies and environments: two that are taken for one would only share their places. */
const ownerBytes = 4;
const recordBytes = hashBytes + 2 * ownerBytes;
/** Further visitors are not counted: about 100 MB of memory. */
const maxVisitors = 1_000_000;

interface Day {
  readonly name: string;
  readonly salt: Buffer;
  readonly known: KnownVisitors;
  /** Hashes of companies and environments. */
  readonly owners: Map<string, number>;
  /** Whether the day's file exists. */
  isInFile: boolean;
}

/** `folder`: null keeps everything in memory. Throws if the day's file can't be read. */
export function openVisitors(folder: string | null, now: number): Visitors {
  // Without an ending, it was written by a version that did not know the company of a visitor.
  const fileOf = (name: string) => (folder === null ? null : path.join(folder, `${prefix}${name}.bin`));
  let day = readDay(nameOf(now), fileOf(nameOf(now))) ?? beginDay(nameOf(now));
  let unsaved: Visitor[] = [];

  function dayAt(now: number): Day {
    const name = nameOf(now);
    if (name > day.name) {
      unsaved = [];
      day = beginDay(name);
    }
    return day;
  }

  return {
    isFirst({ environmentId, companyId }, address, userAgent, now) {
      const today = dayAt(now);
      const visitor = {
        company: ownerIn(today, companyId),
        environment: ownerIn(today, environmentId),
        visitor: hashIn(today, `${environmentId}\n${networkOf(address)}\n${userAgent}`, hashBytes),
      };
      if (!today.known.add(visitor)) return false;
      if (folder !== null) unsaved.push(visitor);
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

const hashIn = ({ salt }: Day, text: string, bytes: number): number =>
  hash("sha256", `${salt.toString("hex")}\n${text}`, "buffer").readUIntBE(0, bytes);

function ownerIn(day: Day, id: string): number {
  const known = day.owners.get(id);
  if (known !== undefined) return known;
  const owner = hashIn(day, id, ownerBytes);
  day.owners.set(id, owner);
  return owner;
}

function bytesOf(visitors: readonly Visitor[]): Buffer {
  const bytes = Buffer.alloc(visitors.length * recordBytes);
  for (const [index, { company, environment, visitor }] of visitors.entries()) {
    const at = bytes.writeUIntBE(visitor, index * recordBytes, hashBytes);
    bytes.writeUIntBE(environment, bytes.writeUIntBE(company, at, ownerBytes), ownerBytes);
  }
  return bytes;
}

function visitorAt(bytes: Buffer, at: number): Visitor {
  return {
    visitor: bytes.readUIntBE(at, hashBytes),
    company: bytes.readUIntBE(at + hashBytes, ownerBytes),
    environment: bytes.readUIntBE(at + hashBytes + ownerBytes, ownerBytes),
  };
}

const dayWith = (name: string, salt: Buffer, isInFile: boolean): Day => ({
  name,
  salt,
  known: createKnownVisitors(maxVisitors),
  owners: new Map(),
  isInFile,
});

const beginDay = (name: string): Day => dayWith(name, randomBytes(saltBytes), false);

/** Null if there is none. The edge may have been killed in the middle of a record, which is cut off. */
function readDay(name: string, file: string | null): Day | null {
  const content = file === null || !existsSync(file) ? null : readFileSync(file);
  if (content === null || file === null || content.length < saltBytes) return null;
  const end = content.length - ((content.length - saltBytes) % recordBytes);
  if (end < content.length) truncateSync(file, end);
  const day = dayWith(name, content.subarray(0, saltBytes), true);
  for (let at = saltBytes; at < end; at += recordBytes) day.known.add(visitorAt(content, at));
  return day;
}

/** Removes earlier days, and a file of the same day that was cut off before its salt. */
function removeAll(folder: string): void {
  for (const each of readdirSync(folder)) {
    if (each.startsWith(prefix)) rmSync(path.join(folder, each), { force: true });
  }
}
