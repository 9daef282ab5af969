/** A zone compiled for lookups: all existing names, including empty non-terminals. */
import { isWithin, type Name, parentOf, readName, readOwner, writeName } from "./names.ts";
import { BadValue } from "./records/badValue.ts";
import { codes, recordType } from "./records/recordTypes.ts";
import type { DnsRecordSet, DnsZone } from "./table.ts";
import { nameServerRecordSet, soaRecordSet } from "./wholeZone.ts";

export interface RecordSet {
  readonly type: number;
  readonly ttl: number;
  /** The data of each record, with uncompressed names. */
  readonly records: readonly Buffer[];
}

/** The record sets of a name; empty for an empty non-terminal. */
export type Node = readonly RecordSet[];

export interface Zone {
  readonly apex: Name;
  readonly serial: number;
  readonly soa: RecordSet;
  /** The SOA record for negative answers, whose TTL is the time to cache them (RFC 2308). */
  readonly negativeSoa: RecordSet;
  readonly nodes: ReadonlyMap<Name, Node>;
  /** Whether parts of the zone are delegated. */
  readonly hasDelegations: boolean;
}

/** Limit for a record set, so that it fits into one message. */
const maxSetBytes = 60_000;

const dsOfApex = "DS records of the zone itself belong to the zone above it. Send them to the domain's registrar";

/** Throws `BadValue` if the zone can't be served. */
export function compileZone(written: DnsZone): Zone {
  const apex = readName(written.name);
  const soa = readSet(soaRecordSet(written));
  const nodes = new Map<Name, RecordSet[]>([[apex, [soa, readSet(nameServerRecordSet(written))]]]);
  let hasDelegations = false;
  for (const set of written.recordSets) {
    const owner = ownerOf(set, apex);
    const compiled = readSet(set);
    if (compiled.type === codes.NS) hasDelegations = true;
    if (compiled.type === codes.DS && owner === apex) throw new BadValue(`${set.name}: ${dsOfApex}`);
    if (compiled.type === codes.SOA) throw new BadValue(`${set.name}: the SOA record can't be set`);
    addSet(nodes, owner, compiled, set);
    addEmptyNonTerminals(nodes, owner, apex);
  }
  const negativeSoa = { ...soa, ttl: Math.min(soa.ttl, written.soa.negativeTtl) };
  return { apex, serial: written.serial, soa, negativeSoa, nodes, hasDelegations };
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
  if (values.length === 0) throw new BadValue(`${name} ${type}: a record set must have at least one value`);
  // Removes duplicates (RFC 2181) after parsing, because values can be written in several ways.
  const records = [...new Map(values.map((value) => readRecord(read, value, name, type))).values()];
  if (type === "CNAME" && records.length > 1) throw new BadValue(`${name}: a name can only have one CNAME record`);
  const bytes = records.reduce((sum, record) => sum + record.length + 12, 0);
  if (bytes > maxSetBytes) throw new BadValue(`${name} ${type}: the records are too large for one answer`);
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

function addSet(nodes: Map<Name, RecordSet[]>, owner: Name, compiled: RecordSet, { name, type }: DnsRecordSet): void {
  const sets = nodes.get(owner);
  if (sets === undefined) {
    nodes.set(owner, [compiled]);
    return;
  }
  if (findSet(sets, compiled.type) !== undefined)
    throw new BadValue(`${name} ${type}: there is already a record set with this name and type`);
  const isAlias = compiled.type === codes.CNAME || findSet(sets, codes.CNAME) !== undefined;
  if (isAlias && sets.length > 0) throw new BadValue(`${name}: a name with a CNAME can't have other records`);
  sets.push(compiled);
}

function addEmptyNonTerminals(nodes: Map<Name, RecordSet[]>, owner: Name, apex: Name): void {
  for (let name = owner; name !== apex; ) {
    name = parentOf(name);
    if (nodes.has(name)) return;
    nodes.set(name, []);
  }
}
