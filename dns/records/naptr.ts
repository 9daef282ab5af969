/** Values of NAPTR records (RFC 3403), such as `100 10 "U" "E2U+sip" "!^.*$!sip:info@example.com!" .` */
import { readName } from "../names.ts";
import { BadValue } from "./badValue.ts";
import { nameBytes, uint16, wholeNumber, writeNameAt } from "./wire.ts";
import { quote, readWords } from "./words.ts";

const form = "order preference flags services expression replacement";
const maxTextBytes = 255;
/** Expression and replacement between delimiters, which are no digits, and flags. */
const substitution = /^([^\d\\i])(?:(?!\1)[^\\]|\\.)+\1(?:(?!\1)[^\\]|\\.)*\1i?$/su;

/** Throws `BadValue`. */
export function readNaptr(value: string): Buffer {
  const words = readWords(value).map(({ bytes }) => bytes);
  if (words.length !== form.split(" ").length) throw new BadValue(`Expected ${form}`);
  const [order, preference, flags, services, expression, replacement] = words;
  if (!/^[a-z0-9]*$/i.test(`${flags}`)) throw new BadValue("The flags must be letters and digits");
  if (expression?.length !== 0 && !substitution.test(`${expression}`)) {
    throw new BadValue("The expression must be empty or like !^.*$!sip:info@example.com!");
  }
  return Buffer.concat([
    uint16(wholeNumber(`${order}`, "order", 65_535)),
    uint16(wholeNumber(`${preference}`, "preference", 65_535)),
    ...[flags, services, expression].map((text) => textBytes(text ?? Buffer.of())),
    nameBytes(readName(`${replacement}`)),
  ]);
}

function textBytes(text: Buffer): Buffer {
  if (text.length > maxTextBytes) throw new BadValue(`A text is longer than ${maxTextBytes} bytes`);
  return Buffer.concat([Buffer.of(text.length), text]);
}

export function writeNaptr(rdata: Buffer): string {
  const words = [`${rdata.readUInt16BE(0)}`, `${rdata.readUInt16BE(2)}`];
  let at = 4;
  for (let text = 0; text < 3; text += 1) {
    const end = at + 1 + rdata.readUInt8(at);
    words.push(quote(rdata.subarray(at + 1, end)));
    at = end;
  }
  return [...words, writeNameAt(rdata, at)].join(" ");
}
