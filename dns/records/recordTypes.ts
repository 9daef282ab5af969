/** The supported record types, with parsers and writers for their values. */
import { readIpv4, readIpv6, writeIpv4, writeIpv6 } from "./address.ts";
import { BadValue } from "./badValue.ts";
import { readCaa, writeCaa } from "./caa.ts";
import { readDs, readSshfp, readTlsa, writeDs, writeSshfp, writeTlsa } from "./digests.ts";
import { isGeneric, readGeneric } from "./generic.ts";
import { readMx, readNameServer, readSrv, readTarget, writeMx, writeSrv, writeTarget } from "./hosts.ts";
import { readNaptr, writeNaptr } from "./naptr.ts";
import { readServiceBinding, writeServiceBinding } from "./serviceBinding.ts";
import { readSoa, writeSoa } from "./soa.ts";
import { readText, writeText } from "./text.ts";

interface RecordType {
  readonly code: number;
  /** Parses a value in the format of zone files. Throws `BadValue`. */
  read(value: string): Buffer;
  /** Writes a value in canonical form: names with their final dot, texts in quotation marks. */
  write(rdata: Buffer): string;
  /** Names in the data that may be compressed: how many, and the number of bytes before the first. */
  readonly names?: { readonly skip: number; readonly count: number };
  /** Offset of the name whose addresses the client will need next. */
  readonly hostAt?: number;
}

const oneName = { names: { skip: 0, count: 1 } };

const types: readonly (readonly [name: string, type: RecordType])[] = [
  ["A", { code: 1, read: readIpv4, write: writeIpv4 }],
  ["NS", { code: 2, read: readNameServer, write: writeTarget, ...oneName, hostAt: 0 }],
  ["CNAME", { code: 5, read: readTarget, write: writeTarget, ...oneName }],
  ["SOA", { code: 6, read: readSoa, write: writeSoa, names: { skip: 0, count: 2 } }],
  ["PTR", { code: 12, read: readTarget, write: writeTarget, ...oneName }],
  ["MX", { code: 15, read: readMx, write: writeMx, names: { skip: 2, count: 1 }, hostAt: 2 }],
  ["TXT", { code: 16, read: readText, write: writeText }],
  ["AAAA", { code: 28, read: readIpv6, write: writeIpv6 }],
  // The target of SRV must not be compressed (RFC 2782).
  ["SRV", { code: 33, read: readSrv, write: writeSrv, hostAt: 6 }],
  // Names in the data of newer types must not be compressed either (RFC 3597).
  ["NAPTR", { code: 35, read: readNaptr, write: writeNaptr }],
  ["DS", { code: 43, read: readDs, write: writeDs }],
  ["SSHFP", { code: 44, read: readSshfp, write: writeSshfp }],
  ["TLSA", { code: 52, read: readTlsa, write: writeTlsa }],
  ["SVCB", { code: 64, read: readServiceBinding, write: writeServiceBinding, hostAt: 2 }],
  ["HTTPS", { code: 65, read: readServiceBinding, write: writeServiceBinding, hostAt: 2 }],
  ["SPF", { code: 99, read: readText, write: writeText }],
  ["CAA", { code: 257, read: readCaa, write: writeCaa }],
];

/** Values of every type may also be written in the generic form. */
const recordTypes: ReadonlyMap<string, RecordType> = new Map(
  types.map(([name, type]) => {
    const read = (value: string) => (isGeneric(value) ? readGeneric(value, type) : type.read(value));
    return [name, { ...type, read }];
  }),
);

const byCode = new Map([...recordTypes].map(([name, type]) => [type.code, { name, ...type }]));

export const typeNames: readonly string[] = [...recordTypes.keys()];

/** The name of a type that is written as `TYPE65` (RFC 3597), if it is supported. Other names in capitals. */
export function readTypeName(written: string): string {
  const name = written.toUpperCase();
  const code = /^TYPE(\d{1,5})$/.exec(name)?.[1];
  return (code === undefined ? undefined : typeOfCode(Number(code))?.name) ?? name;
}

export function isSupportedType(name: string): boolean {
  return recordTypes.has(name);
}

/** Throws `BadValue`. */
export function recordType(name: string): RecordType {
  const type = recordTypes.get(name);
  if (type === undefined)
    throw new BadValue(`Records of type ${name} are not supported. Use one of ${typeNames.join(", ")}`);
  return type;
}

/** Undefined for unknown types. */
export function typeOfCode(code: number): (RecordType & { readonly name: string }) | undefined {
  return byCode.get(code);
}

/** Type codes that the server treats specially. */
export const codes = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  AAAA: 28,
  OPT: 41,
  DS: 43,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
} as const;
