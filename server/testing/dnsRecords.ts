/** Crash test subjects for changes of DNS records. The checks query the running DNS server. */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { makeDnsClient } from "../clients/dnsClient.ts";
import type { ChangeDnsRecordInput, ZoneChangeKind } from "../operations/domains/changeDnsRecord.ts";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { Subject } from "../operations/faults/testing/crashHarness.ts";
import { systemActor } from "../store/company/activity.ts";
import { listDnsRecords, setDnsRecordSet } from "../store/domains/dnsRecords.ts";
import { lockZoneOfDomain, putIntoZone, raiseSerial } from "../store/domains/zones.ts";
import { addOwnDomain } from "../store/testing/rows.ts";
import { liveSite } from "./sites.ts";
import type { World } from "./world.ts";

const inputs = new WeakMap<OperationRequest, ChangeDnsRecordInput>();

/**
 * Does what the API does when it accepts the request: the change is in the database, and the DNS server doesn't know it
 * yet. Each text belongs to a different name.
 */
async function prepare(
  world: World,
  kind: ZoneChangeKind,
  texts: readonly { readonly before: string | null; readonly after: string | null }[],
): Promise<OperationRequest> {
  const { database } = world.own;
  const { companyId, siteId, environment } = await liveSite(world);
  const zone = `${randomUUID()}.example`;
  const id = await addOwnDomain(database, environment.id, { name: zone });
  const changes = texts.map(({ before, after }, index) => {
    const place = { name: `www${index}.${zone}`, type: "TXT" };
    const recordSet = (text: string | null) => (text === null ? null : { ...place, ttl: 300, values: [text] });
    return { place, before: recordSet(before), after: recordSet(after) };
  });
  const input = await database.transaction().execute(async (transaction) => {
    await putIntoZone(
      transaction,
      { id, companyId },
      zone,
      changes.flatMap(({ before }) => before ?? []),
    );
    const { zoneId = "" } = (await lockZoneOfDomain(transaction, id)) ?? {};
    for (const { place, after } of changes) await setDnsRecordSet(transaction, zoneId, place, after);
    const serial = await raiseSerial(transaction, zoneId);
    return { zoneId, zone, serial, changes } satisfies ChangeDnsRecordInput;
  });
  const [first] = changes;
  const request: OperationRequest = {
    kind,
    companyId,
    siteId,
    environmentId: environment.id,
    locks: [],
    input,
    whenBusy: "fail",
    actor: systemActor,
    activityParameters: { domainName: zone, recordName: first?.place.name ?? zone, recordType: "TXT" },
  };
  inputs.set(request, input);
  return request;
}

async function differences(world: World, request: OperationRequest, which: "before" | "after"): Promise<string[]> {
  const input = inputs.get(request);
  if (input === undefined) return ["this request was not prepared here"];
  const dns = makeDnsClient(world.facts.dnsSocket, "127.0.0.1");
  const sets = input.changes.flatMap((change) => change[which] ?? []);
  const found = {
    rows: await listDnsRecords(world.own.database, input.zoneId),
    answered: await Promise.all(input.changes.map(({ place }) => dns.textsOf(place.name))),
  };
  const wanted = { rows: sets, answered: input.changes.map((change) => change[which]?.values ?? []) };
  return isDeepStrictEqual(found, wanted)
    ? []
    : [`found ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
}

function subject(...[kind, ...texts]: [ZoneChangeKind, ...Parameters<typeof prepare>[2]]): Subject {
  return {
    kind,
    prepare: (world) => prepare(world, kind, texts),
    finished: (world, request) => differences(world, request, "after"),
    undone: (world, request) => differences(world, request, "before"),
  };
}

const [added, changed, removed] = [
  { before: null, after: "new" },
  { before: "old", after: "new" },
  { before: "old", after: null },
];
export const dnsSubjects = {
  "creating a DNS record": subject("createDnsRecord", added),
  "changing a DNS record": subject("updateDnsRecord", changed),
  "deleting a DNS record": subject("deleteDnsRecord", removed),
  "restoring an earlier version of a zone": subject("restoreZoneVersion", removed, changed, added),
  "importing a zone file": subject("importZoneFile", added, changed),
} satisfies Readonly<Record<string, Subject>>;
