/** Takes domains from an environment: the edge forgets them, then their rows go, with the certificates that only they needed. */
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

/** Those that were served, so that an undo serves them and no others. */
type Found = { readonly active: readonly string[] };

function isFound(found: unknown): found is Found {
  return typeof found === "object" && found !== null && "active" in found && Array.isArray(found.active);
}

export function deleteDomain({ database, publisher }: Services): OperationDefinition<DeleteDomainInput> {
  /** It may have waited for another operation, which may have made one of them the primary one. */
  async function note({ input, operationId }: StepContext<DeleteDomainInput>): Promise<void> {
    const own = await domainsOfEnvironment(database, input.environmentId);
    const domains = own.filter(({ id }) => input.domainIds.includes(id));
    const primary = domains.find(({ isPrimary }) => isPrimary);
    if (primary) throw new StepFailure(`"${primary.name}" is the primary domain by now. Make another one that first.`);
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
