/**
 * Deletes domains of an environment: stops serving them, then removes their rows and the certificates that only they
 * used.
 */
import { removeUselessCertificates } from "../../store/domains/domainCertificates.ts";
import { domainsOfEnvironment, removeDomains, setActive } from "../../store/domains/domains.ts";
import { edgeGenerations } from "../../store/generations.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";

export type DeleteDomainInput = {
  readonly environmentId: string;
  readonly domainIds: readonly string[];
};

/** The domains that were served before, for the undo. */
type Found = { readonly active: readonly string[] };

function isFound(found: unknown): found is Found {
  return typeof found === "object" && found !== null && "active" in found && Array.isArray(found.active);
}

export function deleteDomain({ database, publisher }: Services): OperationDefinition<DeleteDomainInput> {
  /** Fails if an earlier operation in the queue has made one of the domains primary. */
  async function note({ input, operationId }: StepContext<DeleteDomainInput>): Promise<void> {
    const own = await domainsOfEnvironment(database, input.environmentId);
    const domains = own.filter(({ id }) => input.domainIds.includes(id));
    const primary = domains.find(({ isPrimary }) => isPrimary);
    if (primary)
      throw new StepFailure(`"${primary.name}" is now the primary domain. Make another domain primary first.`);
    await saveResult(database, operationId, { active: domains.filter((each) => each.isActive).map(({ id }) => id) });
  }

  return {
    kind: "deleteDomain",
    steps: [
      { name: "note", deadlineSeconds: 30, run: note },
      {
        name: "withdraw",
        deadlineSeconds: 60,
        run: async ({ input }) => {
          await setActive(database, input.domainIds, false);
          await publisher.publish();
        },
        undo: async ({ operationId }) => {
          const found: unknown = await readResult(database, operationId);
          if (isFound(found)) await setActive(database, found.active, true);
          await publisher.publish();
        },
      },
    ],
    succeeded: async (transaction, { input }) => {
      await removeDomains(transaction, input.domainIds);
      await removeUselessCertificates(transaction, input.environmentId);
      await edgeGenerations.announce(transaction);
      return null;
    },
    failed: async () => undefined,
  };
}
