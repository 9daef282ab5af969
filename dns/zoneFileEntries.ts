/** The entries of a zone file: lines, or several of them where parentheses hold them together; comments left out. */

export class BadZoneFile extends Error {
  override readonly name = "BadZoneFile";
  /** The first is 1. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(`Line ${line}: ${message}`);
    this.line = line;
  }
}

export interface ZoneFileEntry {
  /** Where it begins. */
  readonly line: number;
  /** Whether it begins with a blank: then it is of the same name as the one before. */
  readonly isContinued: boolean;
  /** As written, quotation marks and escapes included. */
  readonly words: readonly string[];
}

/** One step: the end of a line, blanks, a comment, a parenthesis, a quoted text, a word. */
const step = /(\r?\n)|([ \t]+)|;[^\n]*|([()])|("(?:[^"\\\n]|\\[^\n])*")|((?:[^\s;()"\\]|\\[^\n])+)/guy;

/** Throws `BadZoneFile`. */
export function readEntries(text: string): ZoneFileEntry[] {
  const entries: ZoneFileEntry[] = [];
  let [line, read, depth] = [1, 0, 0];
  let [isAtStart, isContinued] = [true, false];
  let begun = 1;
  let words: string[] = [];
  const end = (): void => {
    if (words.length > 0) entries.push({ line: begun, isContinued, words });
    words = [];
    [isAtStart, isContinued] = [true, false];
  };
  for (const match of text.matchAll(step)) {
    const [whole, newline, blank, parenthesis, quoted, bare] = match;
    read = match.index + whole.length;
    if (newline !== undefined) {
      line += 1;
      if (depth === 0) end();
      continue;
    }
    if (isAtStart) [isContinued, begun] = [blank !== undefined, line];
    isAtStart = false;
    if (parenthesis !== undefined) depth += parenthesis === "(" ? 1 : -1;
    if (depth < 0 || depth > 1) throw new BadZoneFile(line, "A parenthesis is where none may be");
    const word = quoted ?? bare;
    if (word !== undefined) words.push(word);
  }
  if (read < text.length) throw new BadZoneFile(line, "A quotation mark is missing, or a character can't be here");
  if (depth > 0) throw new BadZoneFile(begun, "The closing parenthesis is missing");
  end();
  return entries;
}
