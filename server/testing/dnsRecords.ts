/** Changes of DNS records as subjects of `crashHarness.ts`: the running DNS server is asked what became of them. */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { OperationRequest } from "../operations/accept.ts";
import type { ChangeDnsRecordInput } from "../operations/changeDnsRecord.ts";
import type { Subject } from "../operations/crashHarness.ts";
import { makeDnsClient } from "../reconcilers/dnsClient.ts";
import { nobody } from "../store/activity.ts";
import { type DnsRecordSetRow, listDnsRecords, setDnsRecordSet } from "../store/dnsRecords.ts";
import { addOwnDomain } from "../store/testing/rows.ts";
import { lockZoneOfDomain, putIntoZone, raiseSerial } from "../store/zones.ts";
import { liveSite } from "./sites.ts";
import type { World } from "./world.ts";

const known = new WeakMap<OperationRequest, ChangeDnsRecordInput>();

/** What the request does: the change is in the database, and nobody answers it yet. */
async function prepare(
  world: World,
  kind: "createDnsRecord" | "updateDnsRecord" | "deleteDnsRecord",
  texts: { readonly before: string | null; readonly after: string | null },
): Promise<OperationRequest> {
  const { database } = world.own;
  const { companyId, siteId, environment } = await liveSite(world);
  const zone = `${randomUUID()}.example`;
  const id = await addOwnDomain(database, environment.id, { name: zone });
  const place = { name: `www.${zone}`, type: "TXT" };
  const setOf = (text: string | null): DnsRecordSetRow | null =>
    text === null ? null : { ...place, ttl: 300, values: [text] };
  const [before, after] = [setOf(texts.before), setOf(texts.after)];
  const input = await database.transaction().execute(async (transaction) => {
    await putIntoZone(transaction, { id, companyId }, zone, before === null ? [] : [before]);
    const { zoneId = "" } = (await lockZoneOfDomain(transaction, id)) ?? {};
    await setDnsRecordSet(transaction, zoneId, place, after);
    const serial = (await raiseSerial(transaction, zoneId)) ?? 0;
    return { zoneId, zone, serial, place, before, after } satisfies ChangeDnsRecordInput;
  });
  const request: OperationRequest = {
    kind,
    companyId,
    siteId,
    environmentId: environment.id,
    locks: [],
    input,
    whenBusy: "fail",
    actor: nobody,
    activityParameters: { domainName: zone, recordName: place.name, recordType: place.type },
  };
  known.set(request, input);
  return request;
}

async function differences(world: World, request: OperationRequest, which: "before" | "after"): Promise<string[]> {
  const input = known.get(request);
  if (input === undefined) return ["this request is none of ours"];
  const dns = makeDnsClient(world.facts.dnsSocket, "127.0.0.1");
  const set = input[which];
  const found = {
    rows: await listDnsRecords(world.own.database, input.zoneId),
    answered: await dns.textsOf(input.place.name),
  };
  const wanted = { rows: set === null ? [] : [set], answered: set?.values ?? [] };
  return isDeepStrictEqual(found, wanted)
    ? []
    : [`found ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
}

function subject(...[kind, texts]: [Parameters<typeof prepare>[1], Parameters<typeof prepare>[2]]): Subject {
  return {
    kind,
    prepare: (world) => prepare(world, kind, texts),
    finished: (world, request) => differences(world, request, "after"),
    cleanSlate: (world, request) => differences(world, request, "before"),
  };
}

export const creatingDnsRecord = subject("createDnsRecord", { before: null, after: "new" });
export const updatingDnsRecord = subject("updateDnsRecord", { before: "old", after: "new" });
export const deletingDnsRecord = subject("deleteDnsRecord", { before: "old", after: null });
