/** Makes the DNS server answer a change of a record set. The row is changed already: the request did that. */
import { isDeepStrictEqual } from "node:util";
import { DnsUnavailable } from "../reconcilers/dnsClient.ts";
import { type DnsRecordSetRow, findDnsRecordSet, setDnsRecordSet } from "../store/dnsRecords.ts";
import { dnsGenerations } from "../store/generations.ts";
import { raiseSerial } from "../store/zones.ts";
import type { OperationDefinition } from "./operation.ts";
import type { Services } from "./services.ts";

export type ChangeDnsRecordInput = {
  readonly zoneId: string;
  readonly zone: string;
  /** Of the zone with the change in it. */
  readonly serial: number;
  readonly place: { readonly name: string; readonly type: string };
  readonly before: DnsRecordSetRow | null;
  readonly after: DnsRecordSetRow | null;
};

type Kind = "createDnsRecord" | "updateDnsRecord" | "deleteDnsRecord";

export function changeDnsRecord(
  { database, zones, dns }: Services,
  kind: Kind,
): OperationDefinition<ChangeDnsRecordInput> {
  /** Where somebody has changed the record set since, theirs stays. */
  async function takeBack({ zoneId, place, before, after }: ChangeDnsRecordInput): Promise<void> {
    await database.transaction().execute(async (transaction) => {
      if ((await raiseSerial(transaction, zoneId)) === null) return;
      const found = await findDnsRecordSet(transaction, zoneId, place);
      if (isDeepStrictEqual(found, after)) await setDnsRecordSet(transaction, zoneId, place, before);
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
    succeeded: async (_, { input }) => ({ record: input.after }),
    failed: async () => undefined,
  };
}
