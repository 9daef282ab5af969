/**
 * Creates an environment, for an existing site or together with a new one. Its content is a new WordPress, a copy of
 * another environment, or nothing. The API shows the site as live only after its front page has been loaded once.
 */

import type { OperationKind } from "@sitewright/contract/operationKinds.ts";
import type { OperationResult } from "@sitewright/contract/operationResults.ts";
import type { MultisiteKind } from "@sitewright/runtimes/runtime.ts";
import { copyServingSettings } from "../../store/sites/environmentStates.ts";
import { environmentExists, removeEnvironmentRows } from "../../store/sites/environments.ts";
import { noteWordPressVersion, removeSiteRows, setSiteState } from "../../store/sites/siteStates.ts";
import { setEnvironmentState } from "../../store/traffic/routes.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { addPlugins, type NewPlugin, removePluginWork } from "../steps/addPlugins.ts";
import { requireDiskSpace, requireQuota } from "../steps/diskSpace.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import type { Services } from "../steps/services.ts";

export type NewContent =
  | { readonly kind: "plain" }
  | { readonly kind: "clone"; readonly source: EnvironmentInput; readonly sourceAddress: string }
  | NewWordPress;

export type NewWordPress = {
  readonly kind: "wordpress";
  readonly title: string;
  readonly adminUser: string;
  readonly adminEmail: string;
  readonly locale: string;
  readonly multisite: MultisiteKind | null;
  /** Absent: none. */
  readonly plugins?: readonly NewPlugin[];
};

/** The ids of the rows that the request inserted. The secret is the hash of the WordPress password. */
export type CreateEnvironmentInput = {
  readonly siteId: string;
  /** Whether the site is created with this environment, and removed if the operation fails. */
  readonly isNewSite: boolean;
  readonly environment: EnvironmentInput;
  readonly phpVersion: string;
  readonly address: string;
  readonly content: NewContent;
};

export function createEnvironment(
  services: Services,
  kind: OperationKind,
): OperationDefinition<CreateEnvironmentInput> {
  const { database, runtime, publisher, probe } = services;
  return {
    kind,
    turnFrom: "provision",
    steps: [
      {
        name: "provision",
        deadlineSeconds: 1_800,
        run: async (context) => {
          const { wordpressVersion } = await provision(services, context);
          if (wordpressVersion !== null) {
            await noteWordPressVersion(database, context.input.environment.id, wordpressVersion);
          }
        },
        undo: async ({ input, operationId }) => {
          await runtime.destroy(input.environment);
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
        deadlineSeconds: 90,
        // A copy may answer with an error if its source does.
        run: ({ input, signal }) => probe(input.address, signal, input.content.kind === "clone" ? "answer" : "page"),
      },
      {
        // Hashing is slow and needs a whole processor, so the first page is loaded before.
        name: "password",
        deadlineSeconds: 60,
        run: async ({ input: { content, environment }, secret }) => {
          if (content.kind === "wordpress") await runtime.setAdminPassword(environment, secret());
        },
      },
    ],
    succeeded: async (transaction, { input }) => {
      if (!(await environmentExists(transaction, input.environment.id))) {
        throw new StepFailure("The site was deleted while the environment was created.");
      }
      if (input.isNewSite) await setSiteState(transaction, input.siteId, "live");
      return { address: input.address } satisfies OperationResult<"addSite">;
    },
    // Also frees its names.
    failed: async (transaction, { input }) => {
      if (input.isNewSite) await removeSiteRows(transaction, input.siteId);
      else await removeEnvironmentRows(transaction, input.environment.id);
    },
  };
}

async function provision(
  services: Services,
  { input, operationId, signal }: StepContext<CreateEnvironmentInput>,
): Promise<{ readonly wordpressVersion: string | null }> {
  const { database, runtime } = services;
  const { environment, phpVersion, address, content } = input;
  if (content.kind !== "clone") await requireDiskSpace(runtime, { copies: [] }, "The new environment");
  if (content.kind === "plain") return runtime.provision({ environment, phpVersion, wordpress: null });
  if (content.kind === "clone") {
    const { source, sourceAddress } = content;
    await requireDiskSpace(runtime, { copies: [{ environment: source, files: 1, database: 1 }] }, "The copy");
    // The source's settings may have changed while this operation was in the queue.
    await copyServingSettings(database, environment.id, source.id);
    await requireQuota(services, { target: environment, files: source, database: source }, "The copy");
    return runtime.clone({ environment, source, addresses: [{ from: sourceAddress, to: address }] });
  }
  const { kind: _, plugins = [], ...wordpress } = content;
  const made = await runtime.provision({
    environment,
    phpVersion,
    wordpress: { ...wordpress, address, adminPasswordDigest: null },
  });
  const { multisite } = wordpress;
  await addPlugins(services, { environment, phpVersion, multisite, plugins, operationId }, signal);
  return made;
}
