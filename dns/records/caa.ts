/** Values of CAA records (RFC 8659), such as `0 issue "letsencrypt.org"`: which authorities may issue certificates. */
import { BadValue } from "./badValue.ts";
import { wholeNumber } from "./wire.ts";
import { quote, readWords } from "./words.ts";

/** Throws `BadValue`. */
export function readCaa(value: string): Buffer {
  const [flags, tag, content, more] = readWords(value);
  if (flags === undefined || tag === undefined || content === undefined || more !== undefined) {
    throw new BadValue('Expected flags, tag and value, such as 0 issue "letsencrypt.org"');
  }
  const name = tag.bytes.toString("latin1").toLowerCase();
  if (!/^[a-z0-9]{1,15}$/.test(name))
    throw new BadValue("The tag must be a word of letters and digits, such as issue, issuewild or iodef");
  const number = wholeNumber(flags.bytes.toString("latin1"), "flags", 255);
  if (content.bytes.length > 1_024) throw new BadValue("The value is longer than 1024 bytes");
  return Buffer.concat([Buffer.from([number, name.length]), Buffer.from(name, "latin1"), content.bytes]);
}

export function writeCaa(rdata: Buffer): string {
  const end = 2 + (rdata[1] ?? 0);
  return `${rdata[0]} ${rdata.toString("latin1", 2, end)} ${quote(rdata.subarray(end))}`;
}
