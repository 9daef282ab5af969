/**
 * PowerDNS in place of our own DNS server. Changes to the table are applied through its HTTP API, and it stores the zones
 * itself. Our zones have `sitewright` as their account; zones with other accounts are left alone. The generation of the table
 * is stored as metadata of a zone that always exists, so that every process knows whether the table is current.
 */
import { BadValue } from "@sitewright/dns/records/badValue.ts";
import type { DnsTable, DnsZone } from "@sitewright/dns/table.ts";
import type { Logger } from "pino";
import type { PowerDnsServer } from "../settings/dnsSettings.ts";
import type { DnsClient } from "./dnsClient.ts";
import { makeDnsQueries } from "./dnsQueries.ts";
import { DnsUnavailable } from "./dnsUnavailable.ts";
import { makePowerDnsApi, type PowerDnsZone, type RrSet, type RrSetChange } from "./powerDnsApi.ts";
import { changesOf, rrSetsOf } from "./powerDnsZone.ts";

const account = "sitewright";
const generationKind = "X-SITEWRIGHT-GENERATION";
/** Zones that are changed in parallel. */
const concurrency = 4;

interface PowerDnsOptions {
  /** A zone that is in every table. Its metadata holds the generation. */
  readonly mark: string;
  readonly log: Pick<Logger, "warn">;
}

/** Every method rejects with `DnsUnavailable` if there is no valid answer. */
export function makePowerDnsClient(place: PowerDnsServer, { mark, log }: PowerDnsOptions): DnsClient {
  const api = makePowerDnsApi(place);
  const queries = makeDnsQueries(async () => place.address);
  /** Whether this process has compared all zones. Until then equal serials do not mean equal zones. */
  let isCompared = false;
  let foreign: ReadonlySet<string> = new Set();

  async function generation(): Promise<number> {
    return Number((await api.readMetadata(mark, generationKind)) ?? 0);
  }

  async function updateZone(zone: DnsZone, existing: PowerDnsZone | undefined): Promise<void> {
    if (existing !== undefined && isCompared && existing.serial === zone.serial) return;
    const wanted = rrSetsOrNull(zone);
    if (wanted === null) return;
    if (existing === undefined) return api.addZone({ name: zone.name, account, rrsets: wanted });
    const changes = changesOf(wanted, await api.readZone(existing.id));
    if (changes.length === 0 && existing.serial >= zone.serial) return;
    // The serial may have been raised in PowerDNS, and secondaries accept no lower one.
    const serial = Math.max(zone.serial, existing.serial + 1);
    const next = serial === zone.serial ? wanted : (rrSetsOrNull({ ...zone, serial }) ?? wanted);
    await api.changeZone(existing.id, withSoa(changes, next));
  }

  /** Null if the zone has an invalid value. It is then skipped; other zones are not affected. */
  function rrSetsOrNull(zone: DnsZone): readonly RrSet[] | null {
    try {
      return rrSetsOf(zone);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      log.warn({ zone: zone.name, error }, "A zone has an invalid value and is not updated");
      return null;
    }
  }

  async function putTable(table: DnsTable): Promise<number> {
    const before = await generation();
    if (before > table.generation) return before;
    const existing = Map.groupBy(await api.listZones(), (zone) => (zone.account === account ? "ours" : "others"));
    const ours = new Map((existing.get("ours") ?? []).map((zone) => [zone.name, zone]));
    const others = new Set((existing.get("others") ?? []).map(({ name }) => name));
    foreign = others;
    const served = table.zones.filter(({ name }) => !others.has(name));
    if (served.length < table.zones.length)
      log.warn({ others: [...others] }, "Some zones exist in PowerDNS with another account and are not updated");
    await each(served, (zone) => updateZone(zone, ours.get(zone.name)));
    // Another process may have sent a newer table with more zones in the meantime.
    if ((await generation()) > table.generation) return generation();
    const wanted = new Set(table.zones.map(({ name }) => name));
    await each(
      [...ours.values()].filter(({ name }) => !wanted.has(name)),
      ({ id }) => api.removeZone(id),
    );
    await api.writeMetadata(mark, generationKind, String(table.generation));
    isCompared = true;
    return table.generation;
  }

  return {
    putTable,
    status: async () => ({ generation: await generation() }),
    serialOf: async (zone) => {
      if (!foreign.has(zone)) return queries.serialOf(zone);
      throw new DnsUnavailable(`PowerDNS has another zone ${zone}: its account is not "${account}"`);
    },
    textsOf: queries.textsOf,
  };
}

/** Replaces the SOA record in the same request, so that the serial and the records change together. */
function withSoa(changes: readonly RrSetChange[], wanted: readonly RrSet[]): readonly RrSetChange[] {
  const soa = wanted.filter(({ type }) => type === "SOA").map((set) => ({ ...set, changetype: "REPLACE" as const }));
  return [...changes.filter(({ type }) => type !== "SOA"), ...soa];
}

async function each<One>(all: readonly One[], work: (one: One) => Promise<void>): Promise<void> {
  const rest = [...all];
  const take = async () => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: concurrency }, take));
}
