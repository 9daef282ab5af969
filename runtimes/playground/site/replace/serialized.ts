/**
 * PHP's serialised values: strings in them carry their length in bytes, which must follow when a text changes.
 *
 * WordPress's texts hold such values in every combination: a serialised array in a string of another one, in JSON
 * (where each of its quotes has a backslash), in the comments of blocks. A string's end is known from its length
 * only, so a text is read head by head, `s:5:"`, and never by its quotes. A length may change nowhere but in such a
 * head: where one does not fit, the value is damaged, and stays as it is.
 *
 * All of it works on texts with one character for each byte (Latin-1): lengths are right without counting, and
 * bytes that are no UTF-8 survive.
 */

/** As such, or as JSON escapes it in one of two ways, once or more. */
const quote = String.raw`(?:\\*"|\\+u0022)`;

/** `s:5:"`, and `C:3:"Foo":5:{` of an object that writes itself. */
const heads = new RegExp(
  String.raw`(?<![A-Za-z0-9])(?:s|C:\d+:(?<name>${quote})[\w\\\x80-\xff]+${quote}):(?<length>\d+):(?<open>${quote}|\{)`,
  "g",
);

/** How a text begins that is a serialised value as a whole, and not one that holds some. */
const wholeValue = new RegExp(String.raw`^\s*(?:a:\d+:\{|[sOC]:\d+:${quote})`);

/** Values nested deeper than this are left alone: they are only written to exhaust the stack. */
const deepest = 100;

type Change = (part: string) => string;

/** For callers that need details, or handle some texts themselves. */
export interface Watch {
  /** Told of what stays as it is: what is no string in a serialised value, and values that are damaged. */
  left(part: string): void;
  /** Returns what makes everything undone that `change` was told since: the value it was a part of is damaged. */
  mark(): () => void;
  /** Changes a text as a whole; null: it is changed as any other. */
  document(text: string): string | null;
}

interface Changer {
  readonly change: Change;
  readonly watch: Watch;
}

const noWatch: Watch = { left: () => undefined, mark: () => () => undefined, document: () => null };

interface Part {
  /** The head up to its length, and after it. */
  readonly before: string;
  readonly open: string;
  readonly length: number;
  readonly content: string;
  /** How often the content is escaped. */
  readonly levels: number;
  readonly end: number;
}

function utf8Bytes(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** As long as the text is without its backslashes. */
function unescaped(text: string, levels: number): string {
  if (levels === 0) return text;
  const once = text.replace(/(?:\\u[0-9a-f]{4})+|\\(.)/gis, (found: string, character?: string) => {
    return character ?? utf8Bytes(String(JSON.parse(`"${found}"`)));
  });
  return unescaped(once, levels - 1);
}

/** Where the content that begins at `start` ends, which is `length` bytes long without backslashes; null: nowhere. */
function endOf(text: string, start: number, length: number, levels: number, closing: string): number | null {
  let end = text.indexOf(closing, start + length);
  while (end !== -1) {
    const found = unescaped(text.slice(start, end), levels).length;
    if (found >= length) return found === length ? end : null;
    end = text.indexOf(closing, end + length - found);
  }
  return null;
}

/** How often a text is escaped that has quotes like this; each time doubles the backslashes. */
function levelsOf(quote: string): number {
  const backslashes = quote.lastIndexOf("\\") + 1;
  return Math.log2(quote.endsWith('"') ? backslashes + 1 : backslashes * 2);
}

/** Null if the head's length does not fit what follows it. */
function partAt(text: string, match: RegExpExecArray): Part | null {
  const { name, length = "", open = "" } = match.groups ?? {};
  const isObject = name !== undefined;
  const levels = levelsOf(name ?? open);
  if (isObject !== (open === "{") || !Number.isInteger(levels)) return null;
  const start = match.index + match[0].length;
  const end = endOf(text, start, Number(length), levels, isObject ? "}" : `${open};`);
  if (end === null) return null;
  const before = match[0].slice(0, -`${length}:${open}`.length);
  return { before, open: `:${open}`, length: Number(length), content: text.slice(start, end), levels, end };
}

function changePart(part: Part, match: RegExpExecArray, changer: Changer, depth: number): string {
  const content = changeWithin(part.content, changer, depth + 1);
  if (content === part.content) return match[0] + content;
  return part.before + unescaped(content, part.levels).length + part.open + content;
}

function leave(text: string, { watch }: Changer): string {
  watch.left(text);
  return text;
}

function changeWithin(text: string, changer: Changer, depth: number): string {
  if (depth > deepest) return leave(text, changer);
  const document = changer.watch.document(text);
  if (document !== null) return document;
  const whole = wholeValue.test(text);
  const changeBetween: Change = whole ? (between) => leave(between, changer) : changer.change;
  const undo = changer.watch.mark();
  let result = "";
  let done = 0;
  let position = 0;
  for (;;) {
    heads.lastIndex = position;
    const match = heads.exec(text);
    if (match === null) return result + changeBetween(text.slice(done));
    const part = partAt(text, match);
    if (part === null) {
      if (whole) {
        undo();
        return leave(text, changer);
      }
      position = match.index + match[0].length;
      continue;
    }
    result += changeBetween(text.slice(done, match.index)) + changePart(part, match, changer, depth);
    done = part.end;
    position = part.end;
  }
}

/**
 * Applies `change` to every string inside serialised values, whatever they are in, and to what is around them; to
 * nothing of a text that begins as a serialised value and is damaged. `text` has one character for each byte, and
 * so has what `change` is given and returns; it must not depend on how often that is escaped.
 */
export function changeBytes(text: string, change: Change, watch = noWatch): string {
  return changeWithin(text, { change, watch }, 0);
}

/** The same for a text as JavaScript has it. */
export function changeText(text: string, change: Change): string {
  const changed = changeBytes(utf8Bytes(text), (part) => utf8Bytes(change(Buffer.from(part, "latin1").toString())));
  return Buffer.from(changed, "latin1").toString();
}

/** What WordPress takes for a serialised value, and more: a text is stored as one without harm. */
const looksSerialized = /^(?:N;|[a-zA-Z]:.*[;}])$/s;

/**
 * A text as WordPress stores it among options and the like: as it is, or, where it looks like a serialised value itself, as
 * one that is a text.
 */
export function asStored(text: string): string {
  return looksSerialized.test(text.trim()) ? `s:${Buffer.byteLength(text)}:"${text}";` : text;
}

/** Undoes `asStored`. */
export function fromStored(stored: string): string {
  const [, length, text] = /^s:(\d+):"(.*)";$/s.exec(stored) ?? [];
  return text !== undefined && Buffer.byteLength(text) === Number(length) ? text : stored;
}
