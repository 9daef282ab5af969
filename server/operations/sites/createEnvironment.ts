/**
 * Creates an environment, of an existing site or together with a new one. It becomes visible in the API as live only after
 * its first page answered. Its content is a WordPress, nothing, or a copy of another environment.
 */
import type { OperationKind } from "@sitewright/contract/operationKinds.ts";
import type { MultisiteKind } from "@sitewright/runtimes/runtime.ts";
import { serveLike } from "../../store/sites/environmentStates.ts";
import { isEnvironmentThere, removeEnvironmentRows } from "../../store/sites/environments.ts";
import { noteWordPressVersion, removeSiteRows, setSiteState } from "../../store/sites/siteStates.ts";
import { setEnvironmentState } from "../../store/traffic/routes.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { addPlugins, type NewPlugin, removePluginWork } from "../steps/addPlugins.ts";
import { requireQuota, requireRoom } from "../steps/diskRoom.ts";
import type { Services } from "../steps/services.ts";

type Ref = { readonly id: string; readonly number: number };

export type NewContent =
  | { readonly kind: "plain" }
  | { readonly kind: "clone"; readonly source: Ref; readonly sourceAddress: string }
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

/** The ids are those of the rows that the request inserted. A WordPress's password digest is the secret. */
export type CreateEnvironmentInput = {
  readonly siteId: string;
  /** Whether the site begins, and goes if this fails, with this environment. */
  readonly isNewSite: boolean;
  readonly environment: Ref;
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
        // A copy is right where it does what its source does, even if that is an error.
        run: ({ input, signal }) => probe(input.address, signal, input.content.kind === "clone" ? "answer" : "page"),
      },
      {
        // Hashing takes a processor for long: the first page comes first.
        name: "password",
        deadlineSeconds: 60,
        run: async ({ input: { content, environment }, secret }) => {
          if (content.kind === "wordpress") await runtime.setAdminPassword(environment, secret());
        },
      },
    ],
    succeeded: async (transaction, { input }) => {
      if (!(await isEnvironmentThere(transaction, input.environment.id))) {
        throw new StepFailure("The site was deleted while this environment was made for it.");
      }
      if (input.isNewSite) await setSiteState(transaction, input.siteId, "live");
      return { address: input.address };
    },
    // Its names are free again.
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
  if (content.kind === "plain") return runtime.provision({ environment, phpVersion, wordpress: null });
  if (content.kind === "clone") {
    const { source, sourceAddress } = content;
    await requireRoom(runtime, { copies: [{ environment: source, files: 1, database: 1 }] }, "The copy");
    // Both may have changed while this waited for its turn.
    await serveLike(database, environment.id, source.id);
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
