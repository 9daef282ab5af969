/**
 * A WordPress gets another address: that of another of its domains, or the same by https. It is changed in a copy beside the
 * live site, which takes its place (`../steps/takeOver.ts`). Visitors find the site under all of its domains throughout.
 */
import { setPrimaryDomain } from "../../store/domains/domains.ts";
import { type OperationDefinition, type Step, StepFailure } from "../engine/operation.ts";
import { backupRoom } from "../steps/backup.ts";
import { requireRoom } from "../steps/diskRoom.ts";
import type { Services } from "../steps/services.ts";
import { holdAndStage, takeOver } from "../steps/takeOver.ts";

type Named = { readonly id: string; readonly name: string; readonly isHttps: boolean };

export type ChangePrimaryDomainInput = {
  /** Names the release that is built. */
  readonly token: string;
  readonly target: { readonly id: string; readonly number: number };
  /** The new one: scheme, host and port. */
  readonly address: string;
  readonly addressBefore: string;
  /** Whether texts of all kinds are changed, or only where WordPress looks up where it is. */
  readonly isEverywhere: boolean;
  readonly domain: Named;
  readonly former: Named;
};

export function changePrimaryDomain(services: Services): OperationDefinition<ChangePrimaryDomainInput> {
  const { database, runtime } = services;

  /** After the switch: until then the site answers as what it was. */
  const name: Step<ChangePrimaryDomainInput> = {
    name: "name",
    deadlineSeconds: 30,
    run: async ({ input: { target, domain } }) => {
      if (await setPrimaryDomain(database, target.id, domain)) return;
      throw new StepFailure(`The domain "${domain.name}" is not there any more.`);
    },
    undo: async ({ input: { target, former } }) => {
      await setPrimaryDomain(database, target.id, former);
    },
  };
  const [frozen, tried, switched, pruned] = takeOver<ChangePrimaryDomainInput>(services, {
    what: "The site at its new address",
    note: ({ domain }) => `Before ${domain.name} became the primary domain`,
    sharesOwn: () => true,
    addressBefore: (input) => input.addressBefore,
  });

  return {
    kind: "changePrimaryDomain",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input: { target } }) => {
          // The configuration of a network says where it is, and comes with the files.
          const layout = await runtime.layout(target);
          const files = layout !== null && layout.multisite !== null ? 1 : 0;
          const copies = [{ environment: target, files, database: 1 }, await backupRoom(database, target)];
          await requireRoom(runtime, { copies }, "The change");
        },
      },
      ...holdAndStage<ChangePrimaryDomainInput>(services, async ({ input }) => {
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
    succeeded: async (_, { input }) => ({ address: input.address }),
    failed: async () => undefined,
  };
}
