/** Makes the DNS server answer changes of record sets. The rows are changed already: the request did that. */
import { isDeepStrictEqual } from "node:util";
import { DnsUnavailable } from "../../clients/dnsUnavailable.ts";
import { type DnsRecordSetRow, findDnsRecordSet, setDnsRecordSet } from "../../store/domains/dnsRecords.ts";
import { lockZone, raiseSerial } from "../../store/domains/zones.ts";
import { dnsGenerations } from "../../store/generations.ts";
import type { OperationDefinition } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";

export type RecordSetChange = {
  readonly place: { readonly name: string; readonly type: string };
  readonly before: DnsRecordSetRow | null;
  readonly after: DnsRecordSetRow | null;
};

export type ChangeDnsRecordInput = {
  readonly zoneId: string;
  readonly zone: string;
  /** Of the zone with the changes in it. */
  readonly serial: number;
  readonly changes: readonly RecordSetChange[];
};

export type ZoneChangeKind =
  | "createDnsRecord"
  | "updateDnsRecord"
  | "deleteDnsRecord"
  | "restoreZoneVersion"
  | "importZoneFile";

export function changeDnsRecord(
  { database, zones, dns }: Services,
  kind: ZoneChangeKind,
): OperationDefinition<ChangeDnsRecordInput> {
  /** A record set that was changed since keeps the newer change. */
  async function takeBack({ zoneId, changes }: ChangeDnsRecordInput): Promise<void> {
    await database.transaction().execute(async (transaction) => {
      if (!(await lockZone(transaction, zoneId))) return;
      for (const { place, before, after } of changes) {
        const found = await findDnsRecordSet(transaction, zoneId, place);
        if (isDeepStrictEqual(found, after)) await setDnsRecordSet(transaction, zoneId, place, before);
      }
      await raiseSerial(transaction, zoneId);
      await dnsGenerations.announce(transaction);
    });
  }

  return {
    kind,
    steps: [
      {
        name: "publish",
        // Clients wait for half a minute.
        deadlineSeconds: 25,
        run: async ({ input }) => {
          await zones.publish();
          const answered = await dns.serialOf(input.zone);
          if (answered < input.serial) throw new DnsUnavailable(`${input.zone} is answered with ${answered}`);
        },
        undo: async ({ input }) => {
          await takeBack(input);
          // A server that is away is told by the reconciler.
          await zones.publish().catch((error: unknown) => {
            if (!(error instanceof DnsUnavailable)) throw error;
          });
        },
      },
    ],
    succeeded: async (_, { input }) => resultOf(kind, input),
    failed: async () => undefined,
  };
}

function resultOf(kind: ZoneChangeKind, { changes }: ChangeDnsRecordInput) {
  const isOfMany = kind === "restoreZoneVersion" || kind === "importZoneFile";
  return isOfMany ? { changed_record_sets: changes.length } : { record: changes[0]?.after ?? null };
}
