/**
 * The format of a table on the wire and on disk: JSON Lines, with the head in the first line and a line for each zone.
 * A zone stays text until it is first queried, so that ten thousand zones never are objects at the same time.
 */
import type { DnsTable, DnsTableHead, DnsZone } from "./table.ts";
import { readHead, readZone } from "./tableShape.ts";

/** A zone as text that has passed the type checks. */
export interface ZoneText {
  readonly name: string;
  readonly serial: number;
  read(): DnsZone;
}

export interface TableText extends DnsTableHead {
  readonly zones: readonly ZoneText[];
}

const newline = 0x0a;

export function writeTable({ zones, ...head }: DnsTable): string {
  return `${[head, ...zones].map((each) => JSON.stringify(each)).join("\n")}\n`;
}

/** Throws `BadTable` or `SyntaxError`. The table keeps references to the bytes. */
export function readTable(bytes: Buffer): TableText {
  const [head = Buffer.of(), ...lines] = linesOf(bytes);
  return { ...readHead(parse(head)), zones: lines.map(readZoneLine) };
}

function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(newline, start);
    const end = found === -1 ? bytes.length : found;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

function readZoneLine(line: Buffer, index: number): ZoneText {
  const at = `zones[${index}]`;
  const { name, serial } = readZone(parse(line), at);
  return { name, serial, read: () => readZone(parse(line), at) };
}

function parse(line: Buffer): unknown {
  return JSON.parse(line.toString());
}
