/** Values of SOA records: `primary mailbox serial refresh retry expire minimum`. */
import { readName } from "../names.ts";
import { endOfName, exactWords, nameBytes, readHost, wholeNumber, writeNameAt } from "./wire.ts";

const numbers = ["serial", "refresh", "retry", "expire", "minimum"];

/** Throws `BadValue`. */
export function readSoa(value: string): Buffer {
  const [primary, mailbox, ...rest] = exactWords(value, `primary mailbox ${numbers.join(" ")}`);
  const fields = Buffer.alloc(4 * numbers.length);
  numbers.forEach((what, index) => {
    fields.writeUInt32BE(wholeNumber(rest[index], what, index === 0 ? 2 ** 32 - 1 : 2 ** 31 - 1), index * 4);
  });
  return Buffer.concat([nameBytes(readHost(primary)), nameBytes(readName(mailbox ?? "")), fields]);
}

export function writeSoa(rdata: Buffer): string {
  const mailbox = endOfName(rdata, 0);
  const fields = endOfName(rdata, mailbox);
  const values = numbers.map((_, index) => rdata.readUInt32BE(fields + index * 4));
  return `${writeNameAt(rdata, 0)} ${writeNameAt(rdata, mailbox)} ${values.join(" ")}`;
}
