/** Changes zones: checks that a change is allowed, confirmed and servable, writes it, and starts the operation. */
import { zoneNamesOf } from "@sitewright/server/domains/zoneNames.ts";
import type {
  ChangeDnsRecordInput,
  RecordSetChange,
  SkippedLines,
  ZoneChangeKind,
} from "@sitewright/server/operations/domains/changeDnsRecord.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { setDnsRecordSet } from "@sitewright/server/store/domains/dnsRecords.ts";
import {
  listDomainsInZones,
  lockZoneOfDomain,
  raiseSerial,
  type ZoneOfDomain,
} from "@sitewright/server/store/domains/zones.ts";
import { dnsGenerations } from "@sitewright/server/store/generations.ts";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";
import { isSameValue, refuseUnservable } from "./zoneChecks.ts";

interface ZoneChangeRequest {
  readonly kind: ZoneChangeKind;
  /** The domain whose zone it is; changes are limited to names within it. */
  readonly domainId: string;
  /** Whether all addresses or mail servers of the domain can be removed. */
  readonly confirm: boolean | undefined;
}

interface ZoneChange {
  readonly changes: readonly RecordSetChange[];
  readonly activityParameters: Readonly<Record<string, string>>;
  readonly skipped?: SkippedLines;
}

/** Changes the rows and starts the operation that publishes them to the DNS server. Returns the operation's id. */
export function changeZone(
  context: Context,
  { kind, domainId, confirm }: ZoneChangeRequest,
  decide: (zone: ServedZone, transaction: DatabaseTransaction) => Promise<ZoneChange>,
): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const zone = await lockServedZone(context, transaction, domainId);
    const { zoneId, zoneName } = zone;
    const { changes, activityParameters, skipped } = await decide(zone, transaction);
    for (const { place, after } of changes) if (after !== null) refuseForeign(context, zone, place);
    if (!confirm) for (const change of changes) refuseUnconfirmed(zone, change);
    await refuseUnservable(transaction, zone, changes);
    for (const { place, after } of changes) await setDnsRecordSet(transaction, zoneId, place, after);
    const serial = await raiseSerial(transaction, zoneId);
    await dnsGenerations.announce(transaction);
    const { operationId } = await context.acceptOperation(transaction, {
      kind,
      companyId: context.caller.companyId,
      siteId: zone.siteId,
      environmentId: zone.environmentId,
      locks: [],
      input: { zoneId, zone: zoneName, serial, changes, ...(skipped && { skipped }) } satisfies ChangeDnsRecordInput,
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: { domainName: zone.domainName, ...activityParameters },
    });
    return operationId;
  });
}

interface ServedZone extends ZoneOfDomain {
  readonly names: ReturnType<typeof zoneNamesOf>;
  /** The company's domains in the zone. */
  readonly domainNames: readonly string[];
}

async function lockServedZone(
  { caller }: Context,
  transaction: DatabaseTransaction,
  domainId: string,
): Promise<ServedZone> {
  const zone = await lockZoneOfDomain(transaction, domainId);
  if (zone === null) throw noZone(domainId);
  const domains = await listDomainsInZones(transaction, zone.zoneName);
  const names = zoneNamesOf(domains);
  if (!names.serves(caller.companyId, { name: zone.domainName, type: "A" })) {
    const message = `The records of "${zone.domainName}" are not served yet. Prove that you own it: GET /sites/environments/domains/${domainId}/verification-records.`;
    throw new Refused("zone_of_another", message, { domain_id: domainId });
  }
  const own = domains.filter(({ companyId }) => companyId === caller.companyId);
  return { ...zone, names, domainNames: own.map(({ name }) => name) };
}

/** Throws `Refused` if the record would not be served, or would hide another company's names. */
function refuseForeign({ caller }: Context, { names }: ServedZone, { name, type }: RecordSetChange["place"]): void {
  if (names.serves(caller.companyId, { name, type })) return;
  const message = `Another company has a domain at or below "${name}", so your ${type} records can't be served there. Leave them out.`;
  throw new Refused("zone_of_another", message, { name, type });
}

export function noZone(domainId: string): Refused {
  const message = "A temporary domain has no DNS zone. Add a custom domain.";
  return new Refused("no_zone", message, { domain_id: domainId });
}

/** Throws `Refused` if the change removes all addresses or mail servers of the domain, which may be a mistake. */
function refuseUnconfirmed(zone: ZoneOfDomain, { before, after }: RecordSetChange): void {
  if (before === null || ![zone.domainName, zone.zoneName].includes(before.name)) return;
  if (!["A", "AAAA", "MX"].includes(before.type)) return;
  const isKept = (value: string) => after?.values.some((other) => isSameValue(before.type, value, other)) ?? false;
  if (before.values.some(isKept)) return;
  const noun = before.type === "MX" ? "mail servers" : "addresses";
  const message = `This removes all ${noun} of "${before.name}". To do it anyway, send "confirm": true.`;
  throw new Refused("confirm_needed", message, { name: before.name, type: before.type });
}
