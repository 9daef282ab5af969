/**
 * The list of a backup's folders and files, with the pieces of each file. Stored as lines of JSON, in pieces too.
 *
 * The content of the lines decides where a piece ends. So a changed file changes only the piece that contains its line, and
 * the next backup reuses the others.
 *
 * Paths are bytes, as in the file system, encoded as Latin-1.
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
  /** Inode number on the source disk. Together with time and size it detects changed files. */
  readonly inode: bigint;
  /** Names of its pieces. All but the last have full size. */
  readonly pieces: readonly Buffer[];
}

export interface Manifest {
  /** Each folder precedes its content. */
  readonly folders: readonly FolderEntry[];
  readonly files: readonly FileEntry[];
}

/** Average number of lines per piece. */
const linesPerPiece = 256;

function lineOf(entry: FolderEntry | FileEntry): string {
  const { path, mode } = entry;
  if (!("pieces" in entry)) return `${JSON.stringify([path, mode])}\n`;
  const { bytes, modified, inode, pieces } = entry;
  const names = Buffer.concat(pieces).toString("base64");
  return `${JSON.stringify([path, mode, bytes, String(modified), String(inode), names])}\n`;
}

function endsPiece(line: Buffer): boolean {
  return createHash("sha256").update(line).digest().readUInt16BE(0) % linesPerPiece === 0;
}

/** Yields the manifest's own pieces, in order. */
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

/** The line of a very large file may be longer than a piece. */
function* inPieces(text: Buffer): Generator<Buffer> {
  for (let start = 0; start < text.length; start += pieceBytes) yield text.subarray(start, start + pieceBytes);
}

/** Splits concatenated piece names. */
export function splitNames(all: Buffer): readonly Buffer[] {
  return Array.from({ length: all.length / nameBytes }, (_, at) => all.subarray(at * nameBytes, (at + 1) * nameBytes));
}

/** Throws if the manifest is invalid. */
export function readManifest(pieces: readonly Buffer[]): Manifest {
  const folders: FolderEntry[] = [];
  const files: FileEntry[] = [];
  for (const line of Buffer.concat(pieces).toString("utf8").split("\n")) {
    if (line === "") continue;
    const entry: unknown = JSON.parse(line);
    if (!Array.isArray(entry)) throw new Error("A backup's manifest has an invalid line.");
    const [path, mode, bytes, modified, inode, names] = entry;
    if (entry.length === 2) folders.push({ path: String(path), mode: Number(mode) });
    else {
      files.push({
        path: String(path),
        mode: Number(mode),
        bytes: Number(bytes),
        modified: BigInt(modified),
        inode: BigInt(inode),
        pieces: splitNames(Buffer.from(String(names), "base64")),
      });
    }
  }
  return { folders, files };
}
