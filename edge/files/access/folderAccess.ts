/**
 * Finds the rules of the `.htaccess` files in a file's folders. Each folder is looked at once a second at most, and a file is
 * read again only if it has changed, so that a request costs no system call.
 */
import { read } from "node:fs";
import { promisify } from "node:util";
import { LRUCache } from "lru-cache";
import { type FileVersion, isSameVersion, type LookUp } from "../../tables/fileLookup.ts";
import { openFile } from "../openFile.ts";
import { type Access, type AccessBlock, access, accessTo, least } from "./access.ts";
import { readAccessFile } from "./readAccessFile.ts";

const readAt = promisify(read);
const accessFile = ".htaccess";
/** Only the first part of a longer file is read. A file that closes a folder is short; long files list IP addresses. */
const maxBytes = 64 * 1024;
/** Instructions of all expressions from the web root to a folder. Later blocks are ignored. */
const maxInstructions = 3_000;
/** A folder counts one, and ten instructions of its own expressions count one more. */
const maxSize = 20_000;
const checkMilliseconds = 1_000;

interface Folder {
  /** When the file or that of an outer folder was checked. Milliseconds since 1970. */
  readonly checkedAt: number;
  /** Null if there is no such file. */
  readonly version: FileVersion | null;
  readonly own: readonly AccessBlock[];
  /** The blocks of all folders from the web root to this one. */
  readonly blocks: readonly AccessBlock[];
}

export interface FolderAccess {
  /** The access to a file by its requested and its real path. */
  of(lookUp: LookUp, requested: readonly string[], real: readonly string[]): Promise<Access>;
}

const noBlocks: readonly AccessBlock[] = [];

export function createFolderAccess(now: () => number = Date.now): FolderAccess {
  const environments = new WeakMap<LookUp, string>();
  const folders = new LRUCache<string, Folder>({
    maxSize,
    sizeCalculation: ({ own }) => 1 + Math.ceil(instructionsOf(own) / 10),
  });
  let count = 0;

  /** Different for each web root. A new table looks files up anew. */
  function keyOf(lookUp: LookUp): string {
    const existing = environments.get(lookUp);
    if (existing !== undefined) return existing;
    count += 1;
    environments.set(lookUp, `${count}`);
    return `${count}`;
  }

  async function folderAt(lookUp: LookUp, segments: readonly string[]): Promise<Folder> {
    const key = [keyOf(lookUp), ...segments].join("/");
    const known = folders.get(key);
    if (known !== undefined && now() - known.checkedAt < checkMilliseconds) return known;
    const outer = segments.length === 0 ? null : await folderAt(lookUp, segments.slice(0, -1));
    const checkedAt = Math.min(now(), outer?.checkedAt ?? Number.POSITIVE_INFINITY);
    const outerBlocks = outer?.blocks ?? noBlocks;
    const read = await readOwn(lookUp, segments, known);
    const applicable = outer === null ? read.own.filter((block) => !isForWholeSite(block)) : read.own;
    const own = upTo(maxInstructions - instructionsOf(outerBlocks), applicable);
    const blocks = own.length === 0 ? outerBlocks : [...outerBlocks, ...own];
    const folder = { checkedAt, version: read.version, own, blocks };
    folders.set(key, folder);
    return folder;
  }

  async function accessBy(lookUp: LookUp, segments: readonly string[]): Promise<Access> {
    const { blocks } = await folderAt(lookUp, segments.slice(0, -1));
    return blocks.length === 0 ? access.open : accessTo(segments.at(-1) ?? "", blocks);
  }

  return {
    async of(lookUp, requested, real) {
      const byRequest = await accessBy(lookUp, requested);
      if (requested.join("/") === real.join("/")) return byRequest;
      return least([byRequest, await accessBy(lookUp, real)]);
    },
  };
}

/**
 * Whether it lets only some visitors have the whole site, such as the password of a site in development. Pages are run anyway,
 * so without its files the site would only look broken.
 */
function isForWholeSite({ names, byHosts, byRequirements }: AccessBlock): boolean {
  return names === null && (byHosts === access.conditional || byRequirements === access.conditional);
}

function instructionsOf(blocks: readonly AccessBlock[]): number {
  return blocks.reduce((sum, { names }) => sum + (names?.instructions ?? 0), 0);
}

function upTo(instructions: number, blocks: readonly AccessBlock[]): readonly AccessBlock[] {
  let left = instructions;
  return blocks.filter(({ names }) => {
    left -= names?.instructions ?? 0;
    return left >= 0;
  });
}

async function readOwn(
  lookUp: LookUp,
  segments: readonly string[],
  known: Folder | undefined,
): Promise<Pick<Folder, "own" | "version">> {
  const found = await lookUp([...segments, accessFile]);
  if (found?.kind !== "file") return { version: null, own: noBlocks };
  if (known?.version && isSameVersion(known.version, found.version)) return known;
  using opened = openFile(found.path);
  if (opened === null) return { version: null, own: noBlocks };
  const bytes = Buffer.allocUnsafe(Math.min(found.version.size, maxBytes));
  const { bytesRead } = await readAt(opened.descriptor, bytes, 0, bytes.length, 0);
  return { version: found.version, own: readAccessFile(bytes.toString("utf8", 0, bytesRead)) };
}
