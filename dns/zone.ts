/** A zone as it is answered from: every name that exists, the empty ones between two others included. */
import { isWithin, type Name, parentOf, readName, readOwner, writeName } from "./names.ts";
import { BadValue } from "./records/badValue.ts";
import { codes, recordType } from "./records/recordTypes.ts";
import type { DnsRecordSet, DnsZone } from "./table.ts";
import { nameServerRecordSet, soaRecordSet } from "./wholeZone.ts";

export interface RecordSet {
  readonly type: number;
  readonly ttl: number;
  /** The data of each record, names in it whole. */
  readonly records: readonly Buffer[];
}

/** What one name has: nothing, where only names below it have something. */
export type Node = readonly RecordSet[];

export interface Zone {
  readonly apex: Name;
  readonly serial: number;
  readonly soa: RecordSet;
  /** The same as it goes with "there is no such thing": it may be remembered for so long (RFC 2308). */
  readonly negativeSoa: RecordSet;
  readonly nodes: ReadonlyMap<Name, Node>;
  /** Whether parts of it are other servers'. */
  readonly hasCuts: boolean;
}

/** So that a whole set fits into one message. */
const mostBytesOfSet = 60_000;

/** Throws `BadValue`, which says what of the zone can't be served. */
export function compileZone(written: DnsZone): Zone {
  const apex = readName(written.name);
  const soa = readSet(soaRecordSet(written));
  const nodes = new Map<Name, RecordSet[]>([[apex, [soa, readSet(nameServerRecordSet(written))]]]);
  let hasCuts = false;
  for (const set of written.recordSets) {
    const owner = ownerOf(set, apex);
    const compiled = readSet(set);
    if (compiled.type === codes.NS) hasCuts = true;
    if (compiled.type === codes.SOA) throw new BadValue(`${set.name}: the SOA record is the zone's own`);
    put(nodes, owner, compiled, set);
    addEmptyNames(nodes, owner, apex);
  }
  const negativeSoa = { ...soa, ttl: Math.min(soa.ttl, written.soa.negativeTtl) };
  return { apex, serial: written.serial, soa, negativeSoa, nodes, hasCuts };
}

export function findSet(node: Node, type: number): RecordSet | undefined {
  return node.find((set) => set.type === type);
}

function ownerOf({ name }: DnsRecordSet, apex: Name): Name {
  const owner = readOwner(name);
  if (!isWithin(owner, apex)) throw new BadValue(`${name} is not within ${writeName(apex)}`);
  return owner;
}

function readSet({ name, type, ttl, values }: DnsRecordSet): RecordSet {
  const { code, read } = recordType(type);
  if (values.length === 0) throw new BadValue(`${name} ${type}: a record set has at least one value`);
  // Duplicate records are one record (RFC 2181), and a name can be written in two ways.
  const records = [...new Map(values.map((value) => readRecord(read, value, name, type))).values()];
  if (type === "CNAME" && records.length > 1) throw new BadValue(`${name}: a name has exactly one CNAME`);
  const bytes = records.reduce((sum, record) => sum + record.length + 12, 0);
  if (bytes > mostBytesOfSet) throw new BadValue(`${name} ${type}: these records are too many for one answer`);
  return { type: code, ttl, records };
}

function readRecord(read: (value: string) => Buffer, value: string, name: string, type: string): [key: string, Buffer] {
  try {
    const rdata = read(value);
    return [rdata.toString("latin1"), rdata];
  } catch (error) {
    if (error instanceof BadValue) throw new BadValue(`${name} ${type}: ${error.message}`);
    throw error;
  }
}

function put(nodes: Map<Name, RecordSet[]>, owner: Name, compiled: RecordSet, { name, type }: DnsRecordSet): void {
  const sets = nodes.get(owner);
  if (sets === undefined) {
    nodes.set(owner, [compiled]);
    return;
  }
  if (findSet(sets, compiled.type) !== undefined) throw new BadValue(`${name} ${type}: there are two such record sets`);
  const isAlias = compiled.type === codes.CNAME || findSet(sets, codes.CNAME) !== undefined;
  if (isAlias && sets.length > 0) throw new BadValue(`${name}: a CNAME stands alone`);
  sets.push(compiled);
}

function addEmptyNames(nodes: Map<Name, RecordSet[]>, owner: Name, apex: Name): void {
  for (let name = owner; name !== apex; ) {
    name = parentOf(name);
    if (nodes.has(name)) return;
    nodes.set(name, []);
  }
}
