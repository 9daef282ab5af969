/**
 * Changes PHP's serialised values. Strings in them carry their length in bytes, which must be updated when a text
 * changes.
 *
 * WordPress's texts contain such values in every combination: a serialised array in a string of another one, in JSON
 * (where each quote has a backslash), in the comments of blocks. Only the length tells where a string ends, so texts
 * are parsed by heads, such as `s:5:"`, and never by quotes. Lengths are only changed in such heads: if one does not
 * match its content, the value is damaged and stays unchanged.
 *
 * All functions work on texts with one character per byte (Latin-1): lengths are then correct without counting, and
 * invalid UTF-8 is preserved.
 */

/** A quote, plain or escaped as in JSON in one of two ways, one or more times. */
const quote = String.raw`(?:\\*"|\\+u0022)`;

/** Heads of strings, `s:5:"`, and of objects with a custom format, `C:3:"Foo":5:{`. */
const heads = new RegExp(
  String.raw`(?<![A-Za-z0-9])(?:s|C:\d+:(?<name>${quote})[\w\\\x80-\xff]+${quote}):(?<length>\d+):(?<open>${quote}|\{)`,
  "g",
);

/** The beginning of a text that is itself a serialised value, and doesn't only contain some. */
const wholeValue = new RegExp(String.raw`^\s*(?:a:\d+:\{|[sOC]:\d+:${quote})`);

/** Values nested deeper than this stay unchanged: they are only written to exhaust the stack. */
const maxDepth = 100;

type Change = (part: string) => string;

/** For callers that need details, or handle some texts themselves. */
export interface Watch {
  /** Called for parts that stay unchanged: everything but strings in serialised values, and damaged values. */
  kept(part: string): void;
  /** Returns a function that forgets all calls of `change` since then, because the value they belong to is damaged. */
  mark(): () => void;
  /** Changes a complete text; null: it is changed like any other. */
  document(text: string): string | null;
}

interface Changer {
  readonly change: Change;
  readonly watch: Watch;
}

const noWatch: Watch = { kept: () => undefined, mark: () => () => undefined, document: () => null };

interface Part {
  /** The head up to its length, and the head after it. */
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

/** Removes backslash escapes, to get the original length. */
function unescaped(text: string, levels: number): string {
  if (levels === 0) return text;
  const once = text.replace(/(?:\\u[0-9a-f]{4})+|\\(.)/gis, (found: string, character?: string) => {
    return character ?? utf8Bytes(String(JSON.parse(`"${found}"`)));
  });
  return unescaped(once, levels - 1);
}

/**
 * Returns the end of the content that begins at `start` and has `length` bytes when unescaped; null if there is none.
 */
function endOf(text: string, start: number, length: number, levels: number, closing: string): number | null {
  let end = text.indexOf(closing, start + length);
  while (end !== -1) {
    const found = unescaped(text.slice(start, end), levels).length;
    if (found >= length) return found === length ? end : null;
    end = text.indexOf(closing, end + length - found);
  }
  return null;
}

/** Returns how often a text with such quotes is escaped; each level doubles the backslashes. */
function levelsOf(quote: string): number {
  const backslashes = quote.lastIndexOf("\\") + 1;
  return Math.log2(quote.endsWith('"') ? backslashes + 1 : backslashes * 2);
}

/** Parses the part at a head. Null if its length does not match what follows. */
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

function keep(text: string, { watch }: Changer): string {
  watch.kept(text);
  return text;
}

function changeWithin(text: string, changer: Changer, depth: number): string {
  if (depth > maxDepth) return keep(text, changer);
  const document = changer.watch.document(text);
  if (document !== null) return document;
  const isSerialized = wholeValue.test(text);
  const changeBetween: Change = isSerialized ? (between) => keep(between, changer) : changer.change;
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
      if (isSerialized) {
        undo();
        return keep(text, changer);
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
 * Applies `change` to every string inside serialised values, at any depth, and to the text around them, but not to a
 * damaged serialised value. `text`, and the texts that `change` gets and returns, have one character per byte. The
 * result of `change` must not depend on how often a text is escaped.
 */
export function changeBytes(text: string, change: Change, watch = noWatch): string {
  return changeWithin(text, { change, watch }, 0);
}

/** Like `changeBytes`, for JavaScript strings. */
export function changeText(text: string, change: Change): string {
  const changed = changeBytes(utf8Bytes(text), (part) => utf8Bytes(change(Buffer.from(part, "latin1").toString())));
  return Buffer.from(changed, "latin1").toString();
}

/** What WordPress takes for a serialised value, and more: storing other texts like this does no harm. */
const looksSerialized = /^(?:N;|[a-zA-Z]:.*[;}])$/s;

/**
 * Returns a text as WordPress stores it in options and metadata: unchanged, or serialised if it looks like a serialised
 * value itself.
 */
export function asStored(text: string): string {
  return looksSerialized.test(text.trim()) ? `s:${Buffer.byteLength(text)}:"${text}";` : text;
}

/** Undoes `asStored`. */
export function fromStored(stored: string): string {
  const [, length, text] = /^s:(\d+):"(.*)";$/s.exec(stored) ?? [];
  return text !== undefined && Buffer.byteLength(text) === Number(length) ? text : stored;
}
