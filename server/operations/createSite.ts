/** A new site: made, made known, and seen to answer before anybody is told that it exists. */
import type { EnvironmentRef, MultisiteKind } from "@sitewright/runtimes/runtime.ts";
import { setEnvironmentState } from "../store/routes.ts";
import { noteWordPressVersion, removeSiteRows, setSiteState } from "../store/siteStates.ts";
import type { OperationDefinition } from "./operation.ts";
import type { Services } from "./services.ts";

/** What the request was, and the ids of the rows that it inserted. The password's digest is the secret. */
export type CreateSiteInput = {
  readonly siteId: string;
  readonly environment: { readonly id: string; readonly number: number };
  readonly phpVersion: string;
  readonly wordpress: {
    readonly address: string;
    readonly title: string;
    readonly adminUser: string;
    readonly adminEmail: string;
    readonly locale: string;
    readonly multisite: MultisiteKind | null;
  };
};

export function createSite({ database, runtime, publisher, probe }: Services): OperationDefinition<CreateSiteInput> {
  const environmentOf = ({ environment }: CreateSiteInput): EnvironmentRef => environment;
  return {
    kind: "addSite",
    steps: [
      {
        name: "provision",
        deadlineSeconds: 120,
        run: async ({ input }) => {
          const { wordpressVersion } = await runtime.provision({
            environment: environmentOf(input),
            phpVersion: input.phpVersion,
            wordpress: { ...input.wordpress, adminPasswordDigest: null },
          });
          if (wordpressVersion !== null) await noteWordPressVersion(database, input.environment.id, wordpressVersion);
        },
        undo: ({ input }) => runtime.destroy(environmentOf(input)),
      },
      {
        name: "publish",
        deadlineSeconds: 30,
        run: async ({ input }) => {
          await setEnvironmentState(database, [input.environment.id], "serving");
          await publisher.publish();
        },
        undo: async ({ input }) => {
          await setEnvironmentState(database, [input.environment.id], "adding");
          await publisher.publish();
        },
      },
      {
        name: "probe",
        deadlineSeconds: 60,
        run: ({ input, signal }) => probe(input.wordpress.address, signal, "page"),
      },
      {
        // Hashing takes a processor for long: the first page comes first.
        name: "password",
        deadlineSeconds: 60,
        run: ({ input, secret }) => runtime.setAdminPassword(environmentOf(input), secret()),
      },
    ],
    succeeded: async (transaction, { input }) => {
      await setSiteState(transaction, input.siteId, "live");
      return { address: input.wordpress.address };
    },
    // Its names are free again.
    failed: (transaction, { input }) => removeSiteRows(transaction, input.siteId),
  };
}
