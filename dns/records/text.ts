/**
 * Values of TXT and SPF records. A value that starts with a quotation mark is a list of quoted texts. Any other value
 * is a single text, including spaces and semicolons, because that is how people write SPF and DKIM. Long texts are
 * split.
 */
import { BadValue } from "./badValue.ts";
import { bytesOf, quote, readWords } from "./words.ts";

const maxTextBytes = 255;
/** Much longer than any key, but short enough for several in one answer. */
const maxTotalBytes = 8_192;

/** Throws `BadValue`. */
export function readText(value: string): Buffer {
  const trimmed = value.trim();
  if (trimmed === "") throw new BadValue('The text is empty. Write "" for an empty text');
  const texts = trimmed.startsWith('"') ? quoted(trimmed) : [bare(trimmed)];
  const parts = texts.flatMap(split).map((text) => Buffer.concat([Buffer.from([text.length]), text]));
  const rdata = Buffer.concat(parts);
  if (rdata.length > maxTotalBytes) throw new BadValue(`The text is longer than ${maxTotalBytes} bytes`);
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
    if (!isQuoted) throw new BadValue("Either all texts must be in quotation marks or none");
    return bytes;
  });
}

function bare(value: string): Buffer {
  if (/(?<!\\)"/.test(value)) throw new BadValue('Write a text with quotation marks as "like \\"this\\""');
  return bytesOf(value);
}

function split(text: Buffer): Buffer[] {
  const count = Math.max(1, Math.ceil(text.length / maxTextBytes));
  return Array.from({ length: count }, (_, index) => text.subarray(index * maxTextBytes, (index + 1) * maxTextBytes));
}
