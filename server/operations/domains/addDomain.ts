/** Makes the edge answer for names that were added to an environment: at once, or later by the reconciler `checkDomains`. */
import { removeCertificate } from "../../store/domains/domainCertificates.ts";
import { removeDomains, setActive } from "../../store/domains/domains.ts";
import { edgeGenerations } from "../../store/generations.ts";
import type { OperationDefinition } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";

/** The rows are there already: the request inserted them. */
export type AddDomainInput = {
  readonly domains: readonly { readonly id: string; readonly name: string }[];
  /** Of the customer's own, which came with them; null: none. */
  readonly certificateId: string | null;
  /** Otherwise when ownership is proven. */
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
    succeeded: async (_, { input }) => ({ domains: input.domains.map(({ id, name }) => ({ id, name })) }),
    failed: async (transaction, { input }) => {
      await removeDomains(transaction, ids(input));
      if (input.certificateId !== null) await removeCertificate(transaction, input.certificateId);
      await edgeGenerations.announce(transaction);
    },
  };
}
