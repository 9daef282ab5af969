/** Makes the edge serve new domains of an environment: at once, or when `checkDomains` has verified their ownership. */
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import { removeCertificate } from "../../store/domains/domainCertificates.ts";
import { removeDomains, setActive } from "../../store/domains/domains.ts";
import { edgeGenerations } from "../../store/generations.ts";
import type { OperationDefinition } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";

/** The request has already inserted the rows. */
export type AddDomainInput = {
  readonly domains: readonly { readonly id: string; readonly name: string }[];
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
    succeeded: async (_, { input }) => {
      const domains = input.domains.map(({ id, name }) => ({ id, name }));
      return { domains } satisfies OperationResult<"addDomain">;
    },
    failed: async (transaction, { input }) => {
      await removeDomains(transaction, ids(input));
      if (input.certificateId !== null) await removeCertificate(transaction, input.certificateId);
      await edgeGenerations.announce(transaction);
    },
  };
}
