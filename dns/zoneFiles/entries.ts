/** Splits a zone file into entries: lines, or several lines joined by parentheses, without comments. */

export class BadZoneFile extends Error {
  override readonly name = "BadZoneFile";
  /** Starts at 1. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(`Line ${line}: ${message}`);
    this.line = line;
  }
}

export interface ZoneFileEntry {
  /** The first line of the entry. */
  readonly line: number;
  /** Whether it starts with white space, and so has the name of the previous entry. */
  readonly isContinued: boolean;
  /** As written, including quotation marks and escapes. `key="a b"` is one word. */
  readonly words: readonly string[];
}

/** Some editors put it before the first line, and joined files have it before others. */
const byteOrderMark = "\uFEFF";

/** A token: line end, byte order mark, white space, comment, parenthesis, quoted text or word. */
const token =
  /(\r\n|\n|\r)|\uFEFF|([^\S\r\n\uFEFF]+)|;[^\r\n]*|([()])|("(?:[^"\\\r\n]|\\[^\r\n])*")|((?:[^\s;()"\\]|\\[^\r\n])+(?:(?<==)"(?:[^"\\\r\n]|\\[^\r\n])*")?)/guy;

/** Throws `BadZoneFile`. */
export function readEntries(text: string): ZoneFileEntry[] {
  const entries: ZoneFileEntry[] = [];
  let [line, read, depth] = [1, 0, 0];
  let [isAtStart, isContinued] = [true, false];
  let startLine = 1;
  let words: string[] = [];
  const end = (): void => {
    if (words.length > 0) entries.push({ line: startLine, isContinued, words });
    words = [];
    [isAtStart, isContinued] = [true, false];
  };
  for (const match of text.matchAll(token)) {
    const [whole, newline, blank, parenthesis, quoted, bare] = match;
    read = match.index + whole.length;
    if (whole === byteOrderMark) continue;
    if (newline !== undefined) {
      line += 1;
      if (depth === 0) end();
      continue;
    }
    if (isAtStart) [isContinued, startLine] = [blank !== undefined, line];
    isAtStart = false;
    if (parenthesis !== undefined) depth += parenthesis === "(" ? 1 : -1;
    if (depth < 0 || depth > 1) throw new BadZoneFile(line, "A parenthesis is not allowed here");
    const word = quoted ?? bare;
    if (word !== undefined) words.push(word);
  }
  if (read < text.length)
    throw new BadZoneFile(line, "A quotation mark is missing, or a character is not allowed here");
  if (depth > 0) throw new BadZoneFile(startLine, "The closing parenthesis is missing");
  end();
  return entries;
}
