/** A new site: made, made known, and seen to answer before anybody is told that it exists. */
import type { EnvironmentRef, MultisiteKind } from "@sitewright/runtimes/runtime.ts";
import { noteWordPressVersion, removeSiteRows, setSiteState } from "../../store/sites/siteStates.ts";
import { setEnvironmentState } from "../../store/traffic/routes.ts";
import type { OperationDefinition } from "../engine/operation.ts";
import { addPlugins, type NewPlugin, removePluginWork } from "../steps/addPlugins.ts";
import type { Services } from "../steps/services.ts";

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
  /** Absent: none. */
  readonly plugins?: readonly NewPlugin[];
};

export function createSite(services: Services): OperationDefinition<CreateSiteInput> {
  const { database, runtime, publisher, probe } = services;
  const environmentOf = ({ environment }: CreateSiteInput): EnvironmentRef => environment;
  return {
    kind: "addSite",
    steps: [
      {
        name: "provision",
        deadlineSeconds: 1_200,
        run: async ({ input, operationId, signal }) => {
          const { wordpressVersion } = await runtime.provision({
            environment: environmentOf(input),
            phpVersion: input.phpVersion,
            wordpress: { ...input.wordpress, adminPasswordDigest: null },
          });
          if (wordpressVersion !== null) await noteWordPressVersion(database, input.environment.id, wordpressVersion);
          const { environment, phpVersion, wordpress, plugins = [] } = input;
          const { multisite } = wordpress;
          await addPlugins(services, { environment, phpVersion, multisite, plugins, operationId }, signal);
        },
        undo: async ({ input, operationId }) => {
          await runtime.destroy(environmentOf(input));
          await removePluginWork(services, operationId);
        },
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
