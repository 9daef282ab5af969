/** Another version of PHP: tried out beside the one in use while the environment is backed up, then visitors are moved. */
import type { EnvironmentLayout } from "@sitewright/runtimes/runtime.ts";
import type { Json } from "../../store/database.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { setPhpOptOut, setPhpVersion } from "../../store/sites/environmentStates.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { atOnce } from "../steps/atOnce.ts";
import { backUp, backupRoom, removeBackUp, workName } from "../steps/backup.ts";
import { requireRoom } from "../steps/diskRoom.ts";
import { patientlyTryOut } from "../steps/patientTrial.ts";
import { phpOf } from "../steps/phpOf.ts";
import type { Services } from "../steps/services.ts";
import { sameFrontPage } from "../steps/trial.ts";

type Ref = { readonly id: string; readonly number: number };

export type ModifyPhpVersionInput = {
  readonly environment: Ref;
  readonly to: string;
  readonly address: string;
  /** Null: as before. */
  readonly isOptOut: boolean | null;
  /** For automatic changes: only if it still has this version and its owner did not opt out. Null: always. */
  readonly onlyFrom: string | null;
};

/** What the first step found. */
function isBefore(found: Json): found is { readonly from: string } {
  return typeof found === "object" && found !== null && "from" in found && typeof found.from === "string";
}

const trialSeconds = 600;

export function modifyPhpVersion(services: Services): OperationDefinition<ModifyPhpVersionInput> {
  const { database, runtime, publisher, tryOut } = services;

  /** A copy of what visitors use: on another PHP a plugin may want to change that at its first page, and fail. */
  async function rehearse(environment: Ref, operationId: string): Promise<EnvironmentLayout> {
    const token = workName(operationId);
    await requireRoom(runtime, { copies: [{ environment, files: 1, database: 1 }] }, "Trying it out");
    const nothing = { files: "none", database: "none", addresses: [] } as const;
    await runtime.stage({ environment, source: environment, token, ...nothing });
    return runtime.rehearse(environment, token);
  }

  async function tryVersion(
    { environment, to, address }: ModifyPhpVersionInput,
    operationId: string,
    stop: AbortSignal,
  ): Promise<void> {
    const layout = await runtime.layout(environment);
    if (layout === null) throw new StepFailure("The environment's files are not there.");
    const candidate = { environment, phpVersion: to, address, what: `The site on PHP ${to}`, page: sameFrontPage };
    if (await patientlyTryOut(tryOut, { ...candidate, layout, isReadOnly: true }, trialSeconds, stop)) return;
    const rehearsal = { ...candidate, layout: await rehearse(environment, operationId), isReadOnly: false };
    await patientlyTryOut(tryOut, rehearsal, trialSeconds, stop);
  }

  /** Nothing is frozen for the backup: the environment's files and its database stay what they are. */
  async function tryAndBackUp({ input, operationId, signal }: StepContext<ModifyPhpVersionInput>): Promise<void> {
    const { environment, to, address, onlyFrom } = input;
    // It may have waited for another change: what it is undone to is known only now.
    const { version: from, isOptOut } = await phpOf(database, environment.id);
    if (onlyFrom !== null && (isOptOut || from !== onlyFrom)) {
      throw new StepFailure(`The environment is not to be moved off PHP ${onlyFrom} any more.`);
    }
    await saveResult(database, operationId, { from });
    // Opting in or out alone changes nothing that would need a backup.
    if (from === to) return tryVersion(input, operationId, signal);
    await requireRoom(runtime, { copies: [await backupRoom(database, environment)] }, `The change to PHP ${to}`);
    const name = `Before PHP ${to}`;
    const wish = { environment, address, operationId, type: "system-generated", name, note: name } as const;
    await atOnce(signal, [(stop) => tryVersion(input, operationId, stop), (stop) => backUp(services, wish, stop)]);
  }

  return {
    kind: "modifyPhpVersion",
    steps: [
      {
        name: "trial",
        deadlineSeconds: 3_600,
        run: tryAndBackUp,
        undo: async ({ input, operationId }) => {
          await runtime.unstage(input.environment, workName(operationId));
          await removeBackUp(services, operationId);
        },
      },
      {
        name: "switch",
        deadlineSeconds: 30,
        run: async ({ input, operationId }) => {
          await setPhpVersion(database, input.environment.id, input.to);
          await publisher.publish();
          await runtime.unstage(input.environment, workName(operationId));
        },
        undo: async ({ input, operationId }) => {
          const found = await readResult(database, operationId);
          if (!isBefore(found)) return;
          await setPhpVersion(database, input.environment.id, found.from);
          await publisher.publish();
        },
      },
    ],
    succeeded: async (transaction, { input }) => {
      if (input.isOptOut !== null) await setPhpOptOut(transaction, input.environment.id, input.isOptOut);
      return { php_version: input.to };
    },
    failed: async () => undefined,
  };
}
