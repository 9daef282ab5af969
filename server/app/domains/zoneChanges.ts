/** What every change of a zone has in common: it is allowed, confirmed, servable, and an operation has it answered. */
import type {
  ChangeDnsRecordInput,
  RecordSetChange,
  ZoneChangeKind,
} from "@sitewright/server/operations/domains/changeDnsRecord.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { setDnsRecordSet } from "@sitewright/server/store/domains/dnsRecords.ts";
import { isServed, lockZoneOfDomain, raiseSerial, type ZoneOfDomain } from "@sitewright/server/store/domains/zones.ts";
import { dnsGenerations } from "@sitewright/server/store/generations.ts";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";
import { isSameValue, refuseUnservable } from "./zoneChecks.ts";

export interface ZoneWish {
  readonly kind: ZoneChangeKind;
  /** Whose zone it is; nothing outside the domain is changed. */
  readonly domainId: string;
  /** Whether the addresses of the domain, and its mail servers, may go. */
  readonly confirm: boolean | undefined;
}

export interface Decided {
  readonly changes: readonly RecordSetChange[];
  readonly activityParameters: Readonly<Record<string, string>>;
}

/** Changes the rows, and starts what has the DNS server answer them. Returns the operation's id. */
export function changeZone(
  context: Context,
  { kind, domainId, confirm }: ZoneWish,
  decide: (zone: ZoneOfDomain, transaction: DatabaseTransaction) => Promise<Decided>,
): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const zone = await lockServedZone(transaction, domainId);
    const { zoneId, zoneName } = zone;
    const { changes, activityParameters } = await decide(zone, transaction);
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
      input: { zoneId, zone: zoneName, serial, changes } satisfies ChangeDnsRecordInput,
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: { domainName: zone.domainName, ...activityParameters },
    });
    return operationId;
  });
}

async function lockServedZone(transaction: DatabaseTransaction, domainId: string): Promise<ZoneOfDomain> {
  const zone = await lockZoneOfDomain(transaction, domainId);
  if (zone === null) throw noZone(domainId);
  if (!(await isServed(transaction, zone.zoneId))) {
    const message = `Somebody else's records for "${zone.zoneName}" are served. Prove that "${zone.domainName}" is yours: GET /sites/environments/domains/${domainId}/verification-records.`;
    throw new Refused("zone_of_another", message, { domain_id: domainId });
  }
  return zone;
}

export function noZone(domainId: string): Refused {
  const message = "This domain has no zone here: it is one from the installation. Add a domain of your own.";
  return new Refused("no_zone", message, { domain_id: domainId });
}

/** What visitors and mail find the domain by is not lost by a slip. */
function refuseUnconfirmed(zone: ZoneOfDomain, { before, after }: RecordSetChange): void {
  if (before === null || ![zone.domainName, zone.zoneName].includes(before.name)) return;
  if (!["A", "AAAA", "MX"].includes(before.type)) return;
  const isKept = (value: string) => after?.values.some((other) => isSameValue(before.type, value, other)) ?? false;
  if (before.values.some(isKept)) return;
  const what = before.type === "MX" ? "mail servers" : "addresses";
  const message = `This takes all ${what} away from "${before.name}". Send "confirm": true with it.`;
  throw new Refused("confirm_needed", message, { name: before.name, type: before.type });
}
