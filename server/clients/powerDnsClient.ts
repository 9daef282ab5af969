/**
 * A PowerDNS that answers instead of our own server. It is brought to what the table says by differences, through its HTTP API,
 * and keeps everything itself. Ours in it are the zones with our word as account; others are left alone, whatever they are called.
 * Which generation of the table it has is noted with one zone that there always is: whoever tells it next, another process or
 * this one after a restart, knows by that whether there is something to tell.
 */
import { BadValue } from "@sitewright/dns/records/badValue.ts";
import type { DnsTable, DnsZone } from "@sitewright/dns/table.ts";
import type { Logger } from "pino";
import type { PowerDnsPlace } from "../settings/dnsSettings.ts";
import type { DnsClient } from "./dnsClient.ts";
import { makeDnsQuestions } from "./dnsQuestions.ts";
import { DnsUnavailable } from "./dnsUnavailable.ts";
import { makePowerDnsApi, type PowerDnsZone, type RrSet, type RrSetChange } from "./powerDnsApi.ts";
import { changesOf, rrSetsOf } from "./powerDnsZone.ts";

const account = "sitewright";
const generationNote = "X-SITEWRIGHT-GENERATION";
/** Zones that are changed at the same time. */
const atOnce = 4;

export interface PowerDnsOptions {
  /** The zone that is in every table. */
  readonly mark: string;
  readonly log: Pick<Logger, "warn">;
}

/** Every method rejects with `DnsUnavailable` if PowerDNS gives no proper answer. */
export function makePowerDnsClient(place: PowerDnsPlace, { mark, log }: PowerDnsOptions): DnsClient {
  const api = makePowerDnsApi(place);
  const questions = makeDnsQuestions(async () => place.address);
  /** Whether everything was compared since this process has begun: until then a serial alone says little. */
  let isCompared = false;
  let foreign: ReadonlySet<string> = new Set();

  async function generation(): Promise<number> {
    return Number((await api.readNote(mark, generationNote)) ?? 0);
  }

  async function tell(zone: DnsZone, there: PowerDnsZone | undefined): Promise<void> {
    if (there !== undefined && isCompared && there.serial === zone.serial) return;
    const wanted = readable(zone);
    if (wanted === null) return;
    if (there === undefined) return api.addZone({ name: zone.name, account, rrsets: wanted });
    const changes = changesOf(wanted, await api.readZone(there.id));
    if (changes.length === 0 && there.serial >= zone.serial) return;
    // The serial may have been raised elsewhere, and secondaries accept no lower one.
    const serial = Math.max(zone.serial, there.serial + 1);
    const next = serial === zone.serial ? wanted : (readable({ ...zone, serial }) ?? wanted);
    await api.changeZone(there.id, withSoa(changes, next));
  }

  /** Null if something in it can't be served: that costs this zone its change, and no other. */
  function readable(zone: DnsZone): readonly RrSet[] | null {
    try {
      return rrSetsOf(zone);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      log.warn({ zone: zone.name, error }, "This zone can't be served as it is");
      return null;
    }
  }

  async function putTable(table: DnsTable): Promise<number> {
    const before = await generation();
    if (before > table.generation) return before;
    const there = Map.groupBy(await api.listZones(), (zone) => (zone.account === account ? "ours" : "others"));
    const ours = new Map((there.get("ours") ?? []).map((zone) => [zone.name, zone]));
    const others = new Set((there.get("others") ?? []).map(({ name }) => name));
    foreign = others;
    const [served, refused] = [table.zones.filter(({ name }) => !others.has(name)), table.zones.length];
    if (served.length < refused)
      log.warn({ others: [...others] }, "PowerDNS has zones of ours that are somebody else's");
    await each(served, (zone) => tell(zone, ours.get(zone.name)));
    // Another process may have told it of a newer table meanwhile, with more zones in it.
    if ((await generation()) > table.generation) return generation();
    const wanted = new Set(table.zones.map(({ name }) => name));
    await each(
      [...ours.values()].filter(({ name }) => !wanted.has(name)),
      ({ id }) => api.removeZone(id),
    );
    await api.writeNote(mark, generationNote, String(table.generation));
    isCompared = true;
    return table.generation;
  }

  return {
    putTable,
    status: async () => ({ generation: await generation() }),
    serialOf: async (zone) => {
      if (!foreign.has(zone)) return questions.serialOf(zone);
      throw new DnsUnavailable(`PowerDNS has a zone ${zone} that is not ours: its account is not "${account}"`);
    },
    textsOf: questions.textsOf,
  };
}

/** A zone's serial is changed with what it stands for, at once. */
function withSoa(changes: readonly RrSetChange[], wanted: readonly RrSet[]): readonly RrSetChange[] {
  const soa = wanted.filter(({ type }) => type === "SOA").map((set) => ({ ...set, changetype: "REPLACE" as const }));
  return [...changes.filter(({ type }) => type !== "SOA"), ...soa];
}

async function each<One>(all: readonly One[], work: (one: One) => Promise<void>): Promise<void> {
  const rest = [...all];
  const take = async () => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: atOnce }, take));
}
