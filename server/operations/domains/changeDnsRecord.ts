/** Publishes changed record sets to the DNS server. The request has already changed the rows. */

import { isDeepStrictEqual } from "node:util";
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
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

/** Lines of an imported zone file. */
export type SkippedLines = {
  readonly count: number;
  readonly listed: readonly { readonly line: number; readonly text: string; readonly reason: string }[];
};

export type ChangeDnsRecordInput = {
  readonly zoneId: string;
  readonly zone: string;
  /** The zone's serial after the changes. */
  readonly serial: number;
  readonly changes: readonly RecordSetChange[];
  readonly skipped?: SkippedLines;
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
  /** Restores the record sets, except those that have been changed again since. */
  async function revert({ zoneId, changes }: ChangeDnsRecordInput): Promise<void> {
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
        // Less than the 30 seconds that clients wait.
        deadlineSeconds: 25,
        run: async ({ input }) => {
          await zones.publish();
          const served = await dns.serialOf(input.zone);
          if (served < input.serial) {
            throw new DnsUnavailable(`The DNS server has serial ${served} of ${input.zone}, not ${input.serial}`);
          }
        },
        undo: async ({ input }) => {
          await revert(input);
          // If the server can't be reached, the reconciler publishes the zones later.
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

function resultOf(kind: ZoneChangeKind, { changes, skipped }: ChangeDnsRecordInput): OperationResult<ZoneChangeKind> {
  if (kind === "restoreZoneVersion") return { changed_record_sets: changes.length };
  if (kind === "importZoneFile") {
    const { count, listed } = skipped ?? { count: 0, listed: [] };
    return { changed_record_sets: changes.length, skipped_lines: [...listed], skipped_lines_count: count };
  }
  const after = changes[0]?.after ?? null;
  return { record: after && { ...after, values: [...after.values] } };
}
