/** Makes the edge serve new domains of an environment: at once, or when `checkDomains` has verified their ownership. */
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import { endActivityWithWarning } from "../../store/company/activity.ts";
import { removeCertificate } from "../../store/domains/domainCertificates.ts";
import { removeDomains, setActive } from "../../store/domains/domains.ts";
import { edgeGenerations } from "../../store/generations.ts";
import type { OperationDefinition } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";

type AddedDomain = {
  readonly id: string;
  readonly name: string;
  /** The record that must prove ownership before the domain is served. Absent or null: none. */
  readonly recordToPublish?: { readonly name: string; readonly type: string; readonly value: string } | null;
};

/** The request has already inserted the rows. */
export type AddDomainInput = {
  readonly domains: readonly AddedDomain[];
  /** A custom certificate that was uploaded with the domains, or null. */
  readonly certificateId: string | null;
  /** If false, the domains are served when their ownership is verified. */
  readonly isServedAtOnce: boolean;
};

const ids = ({ domains }: AddDomainInput) => domains.map(({ id }) => id);

export function addDomain({ database, publisher }: Services): OperationDefinition<AddDomainInput> {
  return {
    kind: "addDomain",
    steps: [
      {
        name: "publish",
        deadlineSeconds: 60,
        run: async ({ input }) => {
          if (input.isServedAtOnce) await setActive(database, ids(input), true);
          await publisher.publish();
        },
        undo: async ({ input }) => {
          await setActive(database, ids(input), false);
          await publisher.publish();
        },
      },
    ],
    succeeded: async (transaction, { input, operationId }) => {
      const warnings = input.domains.flatMap((domain) => unprovenWarning(domain) ?? []);
      if (warnings.length > 0) await endActivityWithWarning(transaction, operationId, warnings.join(" "));
      const domains = input.domains.map(({ id, name, recordToPublish }) => {
        return { id, name, record_to_publish: recordToPublish ?? null };
      });
      return { domains } satisfies OperationResult<"addDomain">;
    },
    failed: async (transaction, { input }) => {
      await removeDomains(transaction, ids(input));
      if (input.certificateId !== null) await removeCertificate(transaction, input.certificateId);
      await edgeGenerations.announce(transaction);
    },
  };
}

function unprovenWarning({ name, recordToPublish }: AddedDomain): string | null {
  if (!recordToPublish) return null;
  const { name: at, type, value } = recordToPublish;
  return `"${name}" will be served once you have proven that you own it: publish the record ${type} ${at} with the value "${value}".`;
}
