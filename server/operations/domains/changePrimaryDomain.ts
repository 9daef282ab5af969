/**
 * Changes the address of a WordPress to another of its domains, or to HTTPS. The change is made in a copy, which then
 * replaces the current release (`../steps/takeOver.ts`). The site stays available under all its domains.
 */
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import { setPrimaryDomain } from "../../store/domains/domains.ts";
import { type OperationDefinition, type Step, StepFailure } from "../engine/operation.ts";
import { backupSpace } from "../steps/backup.ts";
import { requireDiskSpace } from "../steps/diskSpace.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import type { Services } from "../steps/services.ts";
import { freezeAndStage, takeOver } from "../steps/takeOver.ts";

type Named = { readonly id: string; readonly name: string; readonly isHttps: boolean };

export type ChangePrimaryDomainInput = {
  /** Identifies the release that is built. */
  readonly token: string;
  readonly target: EnvironmentInput;
  /** The new scheme, host and port. */
  readonly address: string;
  readonly addressBefore: string;
  /** Whether to replace the address in all texts, or only in the settings from which WordPress reads it. */
  readonly isEverywhere: boolean;
  readonly domain: Named;
  readonly former: Named;
};

export function changePrimaryDomain(services: Services): OperationDefinition<ChangePrimaryDomainInput> {
  const { database, runtime } = services;

  /** Runs after the switch, because the site has its old address until then. */
  const name: Step<ChangePrimaryDomainInput> = {
    name: "name",
    deadlineSeconds: 30,
    run: async ({ input: { target, domain } }) => {
      if (await setPrimaryDomain(database, target.id, domain)) return;
      throw new StepFailure(`The domain "${domain.name}" no longer exists.`);
    },
    undo: async ({ input: { target, former } }) => {
      await setPrimaryDomain(database, target.id, former);
    },
  };
  const [frozen, tried, switched, pruned] = takeOver<ChangePrimaryDomainInput>(services, {
    what: "The site at its new address",
    note: ({ domain }) => `Before ${domain.name} became the primary domain`,
    sharesTargetData: () => true,
    addressBefore: (input) => input.addressBefore,
  });

  return {
    kind: "changePrimaryDomain",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input: { target } }) => {
          // A network's address is also in wp-config.php, so its files are copied, too.
          const layout = await runtime.layout(target);
          const files = layout !== null && layout.multisite !== null ? 1 : 0;
          const copies = [{ environment: target, files, database: 1 }, await backupSpace(database, target)];
          await requireDiskSpace(runtime, { copies }, "The change");
        },
      },
      ...freezeAndStage<ChangePrimaryDomainInput>(services, async ({ input }) => {
        const { target: environment, token, address, addressBefore, isEverywhere } = input;
        const change = { from: addressBefore, to: address };
        await runtime.stageAddress({ environment, token, change, isEverywhere });
      }),
      frozen,
      tried,
      switched,
      name,
      pruned,
    ],
    pointOfNoReturn: "prune",
    succeeded: async (_, { input }) => ({ address: input.address }) satisfies OperationResult<"changePrimaryDomain">,
    failed: async () => undefined,
  };
}
