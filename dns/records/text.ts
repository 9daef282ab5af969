/**
 * TXT and SPF. A value that begins with a quotation mark is a list of quoted texts; any other is one text as it stands, blanks
 * and semicolons included, because that is how people write SPF and DKIM. What is longer than a text may be is split.
 */
import { BadValue } from "./badValue.ts";
import { bytesOf, quote, readWords } from "./words.ts";

const mostBytes = 255;
/** Far above any key, and small enough for many of them in one answer. */
const mostOfAll = 8_192;

/** Throws `BadValue`. */
export function readText(value: string): Buffer {
  const trimmed = value.trim();
  if (trimmed === "") throw new BadValue('The text is empty; write "" for an empty one');
  const texts = trimmed.startsWith('"') ? quoted(trimmed) : [bare(trimmed)];
  const parts = texts.flatMap(split).map((text) => Buffer.concat([Buffer.from([text.length]), text]));
  const rdata = Buffer.concat(parts);
  if (rdata.length > mostOfAll) throw new BadValue(`The text is longer than ${mostOfAll} bytes`);
  return rdata;
}

export function writeText(rdata: Buffer): string {
  const texts: string[] = [];
  for (let at = 0; at < rdata.length; at += 1 + (rdata[at] ?? 0)) {
    texts.push(quote(rdata.subarray(at + 1, at + 1 + (rdata[at] ?? 0))));
  }
  return texts.join(" ");
}

function quoted(value: string): Buffer[] {
  return readWords(value).map(({ bytes, isQuoted }) => {
    if (!isQuoted) throw new BadValue("Where one text is in quotation marks, all of them are");
    return bytes;
  });
}

function bare(value: string): Buffer {
  if (/(?<!\\)"/.test(value)) throw new BadValue('A text with quotation marks in it is written "like \\"this\\""');
  return bytesOf(value);
}

function split(text: Buffer): Buffer[] {
  const count = Math.max(1, Math.ceil(text.length / mostBytes));
  return Array.from({ length: count }, (_, index) => text.subarray(index * mostBytes, (index + 1) * mostBytes));
}
