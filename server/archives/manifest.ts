/**
 * What is in a backup: every folder and file, and of which pieces a file is made. Kept as lines of JSON, in pieces too.
 *
 * Lines are put together into pieces where a line itself says so. A changed file changes the piece that its line is in,
 * and none of the others: the next backup has those already.
 *
 * Paths are bytes, as the file system has them, written with one character for each.
 */
import { createHash } from "node:crypto";
import { nameBytes, pieceBytes } from "./pieceBox.ts";

export interface FolderEntry {
  readonly path: string;
  readonly mode: number;
}

export interface FileEntry extends FolderEntry {
  readonly bytes: number;
  /** Since 1970, in nanoseconds. */
  readonly modified: bigint;
  /** The file's number on the disk that it was read from: together with time and size it tells a changed file. */
  readonly inode: bigint;
  /** Names of its pieces, of which all but the last are full. */
  readonly pieces: readonly Buffer[];
}

export interface Manifest {
  /** One stands before what is in it. */
  readonly folders: readonly FolderEntry[];
  readonly files: readonly FileEntry[];
}

/** About so many lines are in a piece. */
const linesTogether = 256;

function lineOf(entry: FolderEntry | FileEntry): string {
  const { path, mode } = entry;
  if (!("pieces" in entry)) return `${JSON.stringify([path, mode])}\n`;
  const { bytes, modified, inode, pieces } = entry;
  const names = Buffer.concat(pieces).toString("base64");
  return `${JSON.stringify([path, mode, bytes, String(modified), String(inode), names])}\n`;
}

function endsPiece(line: Buffer): boolean {
  return createHash("sha256").update(line).digest().readUInt16BE(0) % linesTogether === 0;
}

/** The manifest's own pieces, in order. */
export function* writeManifest({ folders, files }: Manifest): Generator<Buffer> {
  let lines: Buffer[] = [];
  let bytes = 0;
  for (const entry of [...folders, ...files]) {
    const line = Buffer.from(lineOf(entry));
    lines.push(line);
    bytes += line.length;
    if (bytes < pieceBytes && !endsPiece(line)) continue;
    yield* inPieces(Buffer.concat(lines));
    [lines, bytes] = [[], 0];
  }
  yield* inPieces(Buffer.concat(lines));
}

/** The line of a very large file alone may be longer than a piece. */
function* inPieces(text: Buffer): Generator<Buffer> {
  for (let start = 0; start < text.length; start += pieceBytes) yield text.subarray(start, start + pieceBytes);
}

/** Of pieces, one after the other. */
export function namesIn(all: Buffer): readonly Buffer[] {
  return Array.from({ length: all.length / nameBytes }, (_, at) => all.subarray(at * nameBytes, (at + 1) * nameBytes));
}

/** Throws if it is none. */
export function readManifest(pieces: readonly Buffer[]): Manifest {
  const folders: FolderEntry[] = [];
  const files: FileEntry[] = [];
  for (const line of Buffer.concat(pieces).toString("utf8").split("\n")) {
    if (line === "") continue;
    const entry: unknown = JSON.parse(line);
    if (!Array.isArray(entry)) throw new Error("A line of a backup's manifest is none.");
    const [path, mode, bytes, modified, inode, names] = entry;
    if (entry.length === 2) folders.push({ path: String(path), mode: Number(mode) });
    else {
      files.push({
        path: String(path),
        mode: Number(mode),
        bytes: Number(bytes),
        modified: BigInt(modified),
        inode: BigInt(inode),
        pieces: namesIn(Buffer.from(String(names), "base64")),
      });
    }
  }
  return { folders, files };
}
