/**
 * Replaces a text in one database value, which may be serialised in any number of layers, JSON, blocks, or plain.
 * Matches whose replacement would break the value stay, and are counted.
 *
 * Like `serialized.ts` it works on texts with one character per byte.
 */
import type { TextChange } from "../../runtime.ts";
import { asciiOf, blockEscaped, changeJson, type JsonStyle } from "./jsonText.ts";
import { changeBytes, type Watch } from "./serialized.ts";

interface Replaced {
  readonly text: string;
  /** Number of replacements. */
  readonly replaced: number;
  /** Number of matches that were kept. */
  readonly kept: number;
}

/** Class names outside of recognised serialised values. */
const classNames = /(?<![A-Za-z0-9])[OE]:\d+:(?:\\*"|\\+u0022)[\w\\:\x80-\xff]+(?:\\*"|\\+u0022)/g;

/** The attributes of a block's comment, as JSON. */
const blocks = /(?<=<!-- wp:[a-z][a-z0-9/_-]* )\{.*?\}(?= \/?-->)/gs;

export function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

function countOf(text: string, search: string): number {
  let count = 0;
  for (let at = text.indexOf(search); at !== -1; at = text.indexOf(search, at + search.length)) count += 1;
  return count;
}

/** Creates a function that replaces the text in a value. */
export function textReplacer(change: TextChange): (text: string) => Replaced {
  const search = bytesOf(change.search);
  const replace = bytesOf(change.replace);
  let replaced = 0;
  let kept = 0;

  /** Replaces in plain text. Matches that overlap a class name stay. */
  function replacePlain(text: string): string {
    if (!text.includes(search)) return text;
    const protectedRanges = Array.from(
      text.matchAll(classNames),
      ({ index, 0: { length } }) => [index, index + length] as const,
    );
    let result = "";
    let done = 0;
    for (let at = text.indexOf(search); at !== -1; at = text.indexOf(search, at + search.length)) {
      const end = at + search.length;
      if (protectedRanges.some(([from, to]) => at < to && end > from)) {
        kept += 1;
        continue;
      }
      result += text.slice(done, at) + replace;
      done = end;
      replaced += 1;
    }
    return result + text.slice(done);
  }

  /**
   * Replaces in JSON. Matches in the source text but in none of its strings cross the boundary of a string, and stay.
   */
  function replaceJson(text: string, style: JsonStyle): string | null {
    const before = replaced + kept;
    const changed = changeJson(text, replaceIn, style);
    if (changed !== null) kept += Math.max(0, countOf(text, search) - (replaced + kept - before));
    return changed;
  }

  function replaceBetween(text: string): string {
    if (!text.includes("<!-- wp:")) return replacePlain(text);
    let result = "";
    let done = 0;
    for (const { index, 0: json } of text.matchAll(blocks)) {
      result += replacePlain(text.slice(done, index)) + (replaceJson(json, "block") ?? replacePlain(json));
      done = index + json.length;
    }
    return result + replacePlain(text.slice(done));
  }

  const watch: Watch = {
    kept: (part) => {
      kept += countOf(part, search);
    },
    mark: () => {
      const before = { replaced, kept };
      return () => {
        ({ replaced, kept } = before);
      };
    },
    document: (text) => (/^\s*[[{]/.test(text) ? replaceJson(text, "document") : null),
  };

  function replaceIn(text: string): string {
    return changeBytes(text, replaceBetween, watch);
  }

  return (text) => {
    replaced = 0;
    kept = 0;
    return { text: replaceIn(text), replaced, kept };
  };
}

/** Returns texts of which at least one occurs in every value with a match: the searched text in all its notations. */
export function marksOf({ search }: TextChange): readonly string[] {
  const write = (text: string, toAscii: boolean, slashes: boolean) => {
    const json = JSON.stringify(text).slice(1, -1);
    const ascii = toAscii ? asciiOf(json) : json;
    return slashes ? ascii.replaceAll("/", "\\/") : ascii;
  };
  const variants = [false, true].flatMap((ascii) => [false, true].map((slashes) => [ascii, slashes] as const));
  const once = variants.map(([ascii, slashes]) => write(search, ascii, slashes));
  const twice = once.flatMap((text) => variants.map(([ascii, slashes]) => write(text, ascii, slashes)));
  const inBlocks = blockEscaped(JSON.stringify(search).slice(1, -1));
  return [...new Set([search, ...once, ...twice, inBlocks])];
}
