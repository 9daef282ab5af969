/**
 * Replaces a text in one value of a database, whatever the value is: serialised, in as many layers as it likes, JSON,
 * blocks, or plain. What would break by it stays, and is counted.
 *
 * Like `serialized.ts` it works on texts with one character for each byte.
 */
import type { TextChange } from "../../../runtime.ts";
import { asciiOf, blockEscaped, changeJson, type JsonStyle } from "./jsonText.ts";
import { changeBytes, type Watch } from "./serialized.ts";

export interface Replaced {
  readonly text: string;
  /** How often it was replaced. */
  readonly replaced: number;
  /** How often it was found and left. */
  readonly left: number;
}

/** The names of classes, outside of serialised values that are known as such. */
const classNames = /(?<![A-Za-z0-9])[OE]:\d+:(?:\\*"|\\+u0022)[\w\\:\x80-\xff]+(?:\\*"|\\+u0022)/g;

/** A block's comment; what stands between its braces is JSON. */
const blocks = /(?<=<!-- wp:[a-z][a-z0-9/_-]* )\{.*?\}(?= \/?-->)/gs;

export function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

export function countOf(text: string, search: string): number {
  let count = 0;
  for (let at = text.indexOf(search); at !== -1; at = text.indexOf(search, at + search.length)) count += 1;
  return count;
}

/** Makes the function that replaces in a value. */
export function textReplacer(change: TextChange): (text: string) => Replaced {
  const search = bytesOf(change.search);
  const replace = bytesOf(change.replace);
  let replaced = 0;
  let left = 0;

  /** Where a match touches the name of a class it stays. */
  function replacePlain(text: string): string {
    if (!text.includes(search)) return text;
    const kept = Array.from(text.matchAll(classNames), ({ index, 0: { length } }) => [index, index + length] as const);
    let result = "";
    let done = 0;
    for (let at = text.indexOf(search); at !== -1; at = text.indexOf(search, at + search.length)) {
      const end = at + search.length;
      if (kept.some(([from, to]) => at < to && end > from)) {
        left += 1;
        continue;
      }
      result += text.slice(done, at) + replace;
      done = end;
      replaced += 1;
    }
    return result + text.slice(done);
  }

  /** What is found in JSON as it is written, but in none of its texts, goes over the edge of one. */
  function replaceJson(text: string, style: JsonStyle): string | null {
    const before = replaced + left;
    const changed = changeJson(text, replaceIn, style);
    if (changed !== null) left += Math.max(0, countOf(text, search) - (replaced + left - before));
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
    left: (part) => {
      left += countOf(part, search);
    },
    mark: () => {
      const before = { replaced, left };
      return () => {
        ({ replaced, left } = before);
      };
    },
    document: (text) => (/^\s*[[{]/.test(text) ? replaceJson(text, "document") : null),
  };

  function replaceIn(text: string): string {
    return changeBytes(text, replaceBetween, watch);
  }

  return (text) => {
    replaced = 0;
    left = 0;
    return { text: replaceIn(text), replaced, left };
  };
}

/** Each of these is in a value that has something to replace; with all but the first, it is written in another way. */
export function marksOf({ search }: TextChange): readonly string[] {
  const written = (text: string, toAscii: boolean, slashes: boolean) => {
    const json = JSON.stringify(text).slice(1, -1);
    const ascii = toAscii ? asciiOf(json) : json;
    return slashes ? ascii.replaceAll("/", "\\/") : ascii;
  };
  const ways = [false, true].flatMap((ascii) => [false, true].map((slashes) => [ascii, slashes] as const));
  const once = ways.map(([ascii, slashes]) => written(search, ascii, slashes));
  const twice = once.flatMap((text) => ways.map(([ascii, slashes]) => written(text, ascii, slashes)));
  const inBlocks = blockEscaped(JSON.stringify(search).slice(1, -1));
  return [...new Set([search, ...once, ...twice, inBlocks])];
}
