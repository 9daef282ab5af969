/** The DNS records that a domain needs, and whether the ones that were found are right. */
import { createHash } from "node:crypto";
import ipaddr from "ipaddr.js";
import { isApex, readDomainName } from "./names.ts";

export type RecordType = "TXT" | "CNAME" | "A" | "AAAA";

/** `name` and the value of a CNAME are absolute: they end with a dot. */
export interface WantedRecord {
  readonly name: string;
  readonly type: RecordType;
  readonly value: string;
  /** Whether the domain is not right without it. */
  readonly isRequired: boolean;
}

/** What was seen, by `recordKey`. */
export type SeenRecords = Readonly<Record<string, readonly string[]>>;

export interface DomainFacts {
  readonly companyId: string;
  readonly name: string;
  readonly isWildcard: boolean;
  /** The name that its environment has from the installation. */
  readonly temporaryName: string;
}

/** What names are compared with. */
export interface Installation {
  /** Public addresses of the edge, of version 4 and 6, in the shortest form. */
  readonly edgeAddresses: readonly string[];
  /** Below which names for certificates are. */
  readonly siteSuffix: string;
}

export function recordKey({ type, name }: Pick<WantedRecord, "type" | "name">): string {
  return `${type} ${name}`;
}

/**
 * Proves that the owner of the name's DNS wants this company to have it. It is no secret: only the owner can publish it
 * there. It is the same whenever the company adds the name.
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

/** By which an authority's questions for a wildcard's certificate are led to the installation's own DNS. */
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
  const place = { name: `${name}.`, isRequired: true };
  if (!isApex(readDomainName(name))) return [{ ...place, type: "CNAME", value: `${temporaryName}.` }];
  return edgeAddresses.map((value) => ({ ...place, type: value.includes(":") ? "AAAA" : "A", value }));
}

/** Which records are asked for. A name that is no apex may point here by addresses just as well. */
export function recordsToAsk(domain: DomainFacts, installation: Installation) {
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

/** Whether the world is led to this installation's DNS servers, and to no others. `servers` are absolute. */
export function isDelegatedHere(servers: readonly string[], dnsNames: readonly string[]): boolean {
  return servers.length > 0 && servers.every((server) => dnsNames.includes(server.replace(/\.$/, "").toLowerCase()));
}

/** Null if not checked yet. */
export function isRight(record: WantedRecord, seen: SeenRecords | null): boolean | null {
  const values = seen?.[recordKey(record)];
  return values === undefined ? null : values.includes(record.value);
}

/**
 * Where the installation's own DNS answers what an authority asks about the domain, without the final dot: at the name itself
 * where it has the zone, or where the domain's record leads to. Null: nowhere.
 */
export function challengeNameOf(
  domain: DomainFacts,
  { seen, usesOwnDns }: { readonly seen: SeenRecords; readonly usesOwnDns: boolean },
  installation: Installation,
): string | null {
  const record = challengeRecord(domain, installation);
  if (usesOwnDns) return record.name.replace(/\.$/, "");
  return isRight(record, seen) ? record.value.replace(/\.$/, "") : null;
}

export interface Judgement {
  /** Its ownership record is there. */
  readonly isVerified: boolean;
  /** All of the name's addresses are this installation's. */
  readonly pointsHere: boolean;
}

export function judge(domain: DomainFacts, seen: SeenRecords, { edgeAddresses }: Installation): Judgement {
  const name = `${domain.name}.`;
  const valuesOf = (type: RecordType) => seen[recordKey({ type, name })] ?? [];
  const addresses = [...valuesOf("A"), ...valuesOf("AAAA")].map(shortestAddress);
  const leadsHere = addresses.length > 0 && addresses.every((address) => edgeAddresses.includes(address));
  return {
    isVerified: isRight(ownershipRecord(domain), seen) ?? false,
    pointsHere: leadsHere || valuesOf("CNAME").includes(`${domain.temporaryName}.`),
  };
}

/** `2001:db8::1`, however it is written. */
export function shortestAddress(text: string): string {
  return ipaddr.parse(text).toString();
}
