/** The DNS records that a domain needs, and checks of the records that were found. */
import { createHash } from "node:crypto";
import ipaddr from "ipaddr.js";
import { isApex, readDomainName } from "./names.ts";

export type RecordType = "TXT" | "CNAME" | "A" | "AAAA";

/** `name` and the value of a CNAME are absolute: they end with a dot. */
export interface WantedRecord {
  readonly name: string;
  readonly type: RecordType;
  readonly value: string;
  /** Whether the domain needs it. */
  readonly isRequired: boolean;
}

/** Values that were found, by `recordKey`. */
export type FoundRecords = Readonly<Record<string, readonly string[]>>;

export interface DomainFacts {
  readonly companyId: string;
  readonly name: string;
  readonly isWildcard: boolean;
  /** The environment's name below the installation's suffix. */
  readonly temporaryName: string;
}

/** The installation's own addresses and names. */
export interface Installation {
  /** Public IPv4 and IPv6 addresses of the edge, in the shortest form. */
  readonly edgeAddresses: readonly string[];
  /** Temporary names and names for ACME challenges are below it. */
  readonly siteSuffix: string;
}

export function recordKey({ type, name }: Pick<WantedRecord, "type" | "name">): string {
  return `${type} ${name}`;
}

/**
 * The record with which the owner of a name grants it to this company. It is not secret, because only the owner can
 * publish it, and always the same for a company and a name.
 */
export function ownershipRecord({ companyId, name }: Pick<DomainFacts, "companyId" | "name">): WantedRecord {
  return {
    name: `_sitewright-verify.${name}.`,
    type: "TXT",
    value: `sitewright-verify=${digestOf(companyId, name)}`,
    isRequired: true,
  };
}

function digestOf(companyId: string, name: string): string {
  return createHash("sha256").update(`domain ${companyId} ${name}`).digest("hex").slice(0, 32);
}

/** The record that points ACME challenges for a wildcard's certificate to the installation's own DNS. */
export function challengeRecord(domain: DomainFacts, { siteSuffix }: Installation): WantedRecord {
  const label = digestOf(domain.companyId, domain.name);
  return {
    name: `_acme-challenge.${domain.name}.`,
    type: "CNAME",
    value: `${label}.acme-challenge.${siteSuffix}.`,
    isRequired: false,
  };
}

export function pointingRecords(domain: DomainFacts, installation: Installation): readonly WantedRecord[] {
  const records = pointingOf(domain, installation);
  if (!domain.isWildcard) return records;
  return [...records, ...records.map((record) => ({ ...record, name: `*.${record.name}`, isRequired: false }))];
}

function pointingOf(
  { name, temporaryName }: DomainFacts,
  { edgeAddresses }: Pick<Installation, "edgeAddresses">,
): readonly WantedRecord[] {
  const common = { name: `${name}.`, isRequired: true };
  if (!isApex(readDomainName(name))) return [{ ...common, type: "CNAME", value: `${temporaryName}.` }];
  return edgeAddresses.map((value) => ({ ...common, type: value.includes(":") ? "AAAA" : "A", value }));
}

/** The records to look up. Names below an apex may use addresses instead of a CNAME. */
export function recordsToQuery(domain: DomainFacts, installation: Installation) {
  const name = `${domain.name}.`;
  const wanted: readonly Pick<WantedRecord, "type" | "name">[] = [
    ownershipRecord(domain),
    challengeRecord(domain, installation),
    { type: "CNAME", name },
    { type: "A", name },
    { type: "AAAA", name },
  ];
  return wanted.map(({ type, name: asked }) => ({ type, name: asked }));
}

/** Whether the domain is delegated only to this installation's DNS servers. `servers` are absolute. */
export function isDelegatedHere(servers: readonly string[], dnsNames: readonly string[]): boolean {
  return servers.length > 0 && servers.every((server) => dnsNames.includes(server.replace(/\.$/, "").toLowerCase()));
}

/** Whether the record was found with the right value, or null if it was not checked yet. */
export function isRight(record: WantedRecord, seen: FoundRecords | null): boolean | null {
  const values = seen?.[recordKey(record)];
  return values === undefined ? null : values.includes(record.value);
}

/**
 * The name of the domain's DNS challenge that the installation's own DNS answers, without the final dot: the name
 * itself if it serves the zone, otherwise the target of the domain's challenge record. Null if there is neither.
 */
export function challengeNameOf(
  domain: DomainFacts,
  { seen, usesOwnDns }: { readonly seen: FoundRecords; readonly usesOwnDns: boolean },
  installation: Installation,
): string | null {
  const record = challengeRecord(domain, installation);
  if (usesOwnDns) return record.name.replace(/\.$/, "");
  return isRight(record, seen) ? record.value.replace(/\.$/, "") : null;
}

interface RecordEvaluation {
  /** The ownership record is right. */
  readonly isVerified: boolean;
  /** All addresses, or the CNAME, lead to this installation. */
  readonly pointsHere: boolean;
}

export function evaluateRecords(
  domain: DomainFacts,
  seen: FoundRecords,
  { edgeAddresses }: Installation,
): RecordEvaluation {
  const name = `${domain.name}.`;
  const valuesOf = (type: RecordType) => seen[recordKey({ type, name })] ?? [];
  const addresses = [...valuesOf("A"), ...valuesOf("AAAA")].map(shortestAddress);
  const addressesMatch = addresses.length > 0 && addresses.every((address) => edgeAddresses.includes(address));
  return {
    isVerified: isRight(ownershipRecord(domain), seen) ?? false,
    pointsHere: addressesMatch || valuesOf("CNAME").includes(`${domain.temporaryName}.`),
  };
}

/** Whether at least one of the addresses is the edge's. */
export function hasAddressHere(
  addresses: readonly string[],
  { edgeAddresses }: Pick<Installation, "edgeAddresses">,
): boolean {
  return addresses.some((address) => edgeAddresses.includes(shortestAddress(address)));
}

/** The shortest form of an address, such as `2001:db8::1`. */
function shortestAddress(text: string): string {
  return ipaddr.parse(text).toString();
}
