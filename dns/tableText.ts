/**
 * A table as it is sent and kept: JSON, a line for everything but the zones, and a line for each zone. So a zone is its own piece
 * of the text until it is first asked for, and ten thousand of them never are objects at the same time.
 */
import type { DnsTable, DnsTableHead, DnsZone } from "./table.ts";
import { readHead, readZone } from "./tableShape.ts";

/** A zone whose shape is right. */
export interface WrittenZone {
  readonly name: string;
  readonly serial: number;
  read(): DnsZone;
}

export interface WrittenTable extends DnsTableHead {
  readonly zones: readonly WrittenZone[];
}

const newline = 0x0a;

export function writeTable({ zones, ...head }: DnsTable): string {
  return `${[head, ...zones].map((each) => JSON.stringify(each)).join("\n")}\n`;
}

/** Throws `BadTable` or `SyntaxError`. The bytes are kept. */
export function readTable(bytes: Buffer): WrittenTable {
  const [head = Buffer.of(), ...lines] = linesOf(bytes);
  return { ...readHead(parse(head)), zones: lines.map(readWritten) };
}

function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(newline, start);
    const end = found === -1 ? bytes.length : found;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

function readWritten(line: Buffer, index: number): WrittenZone {
  const at = `zones[${index}]`;
  const { name, serial } = readZone(parse(line), at);
  return { name, serial, read: () => readZone(parse(line), at) };
}

function parse(line: Buffer): unknown {
  return JSON.parse(line.toString());
}
