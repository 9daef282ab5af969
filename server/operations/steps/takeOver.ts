/**
 * Replaces an environment's current release with a staged one: tries out the staged release while the current one is
 * backed up, and then switches with one rename. The undo is the reverse rename.
 *
 * In the meantime the edge refuses writes to the environment, so that nothing is accepted and then lost. See
 * `docs/decisions/pushing.md`.
 */
import type { EnvironmentLayout, EnvironmentRef } from "@sitewright/runtimes/runtime.ts";
import { noteRelease, setFrozen } from "../../store/sites/environmentStates.ts";
import { type Step, type StepContext, StepFailure } from "../engine/operation.ts";
import { backUp, undoBackUp, workName } from "./backup.ts";
import { withBypassHint } from "./bypassHint.ts";
import { requireDiskSpace } from "./diskSpace.ts";
import { inParallel } from "./inParallel.ts";
import { phpOf } from "./phpOf.ts";
import { runTrialWithRetries } from "./runTrialWithRetries.ts";
import type { Services } from "./services.ts";
import { frontPage, type TrialPage } from "./trial.ts";
import { requireVisualMatch } from "./visualCheck.ts";

/** The part of an operation's input that `takeOver` needs. */
export interface TakeOver {
  /** Identifies the staged release. */
  readonly token: string;
  readonly target: EnvironmentRef;
  /** The target's scheme, host and port. */
  readonly address: string;
}

interface TakeOverOptions<Input> {
  /** Names the staged release in error messages: `The pushed site`. */
  readonly what: string;
  /** Returns the name of the backup of the current release: `Before a push from Staging`. */
  note(input: Input): string;
  /**
   * Whether the staged release shares files or the database with the current one, so that a trial must not change them.
   */
  sharesTargetData(input: Input): boolean;
  /** Lets users skip the backup of the current release. Absent if the backup is mandatory. */
  readonly withoutBackup?: {
    /** A sentence that says how to skip the backup. */
    readonly bypassHint: string;
    isChosen(input: Input): boolean;
  };
  /** Returns the address of the current release, for its backup. Absent if the address does not change. */
  readonly addressBefore?: (input: Input) => string;
  /** Pages to try out. Absent: the front page, which must not have an error. */
  readonly pages?: (input: Input) => readonly TrialPage[];
  /** Whether both releases are the same site, so that no page may be worse than its current one. Absent: false. */
  readonly isSameSite?: boolean;
  /** Returns the visual check, or null to skip it. Absent if the operation never checks. */
  readonly visualCheck?: (input: Input) => VisualCheck | null;
}

interface VisualCheck {
  /** Pages to compare in addition to the front page. */
  readonly paths: readonly string[];
  /** How much of a screenshot may differ, in percent from 0 to 100. */
  readonly threshold: number;
}

const trialSeconds = 90;

/** Makes the edge refuse writes to the environment. Resolves when writes that started before have ended. */
export async function freeze(
  { database, publisher, waitForWrites }: Services,
  { id }: EnvironmentRef,
  signal: AbortSignal,
): Promise<void> {
  await setFrozen(database, id, true);
  await publisher.publish();
  await waitForWrites(id, signal);
}

/** Undoes `freeze`. */
export async function thaw({ database, publisher }: Services, { id }: EnvironmentRef): Promise<void> {
  await setFrozen(database, id, false);
  await publisher.publish();
}

/**
 * Returns the two steps before `takeOver` for releases that are built from the environment's own data. Freezes the
 * environment before the copy, because later writes would be lost.
 */
export function freezeAndStage<Input extends TakeOver>(
  services: Services,
  stage: Step<Input>["run"],
): readonly [Step<Input>, Step<Input>] {
  return [
    {
      name: "hold",
      deadlineSeconds: 60,
      run: ({ input, signal }) => freeze(services, input.target, signal),
      undo: ({ input }) => thaw(services, input.target),
    },
    {
      name: "stage",
      deadlineSeconds: 3_600,
      run: stage,
      undo: ({ input }) => services.runtime.unstage(input.target, input.token),
    },
  ];
}

/** Returns the steps that try out, back up, switch and clean up. The last step is the point of no return. */
export function takeOver<Input extends TakeOver>(
  services: Services,
  options: TakeOverOptions<Input>,
): readonly [Step<Input>, Step<Input>, Step<Input>, Step<Input>] {
  const { database, runtime, publisher, runTrial } = services;
  const { what, note, sharesTargetData, addressBefore, isSameSite = false, withoutBackup } = options;
  const { pages = () => [frontPage], visualCheck = () => null } = options;

  /** Tries out the staged release read-only if it shares live data, and as a copy if its pages need to write. */
  async function tryStaged(input: Input, operationId: string, stop: AbortSignal): Promise<void> {
    const { target, token, address } = input;
    const php = await phpOf(database, target.id);
    const staged = await runtime.staged(target, token);
    if (staged === null) throw new StepFailure("The new release no longer exists.");
    const current = await runtime.layout(target);
    const candidate = { environment: target, php, address, what };
    const compared = isSameSite && current !== null ? { ...candidate, current } : candidate;
    const tryPages = async (layout: EnvironmentLayout, isReadOnly: boolean): Promise<boolean> => {
      for (const page of pages(input)) {
        const trial = { ...compared, layout, page, isReadOnly };
        if (!(await runTrialWithRetries(runTrial, trial, trialSeconds, stop))) return false;
      }
      return true;
    };
    // Read-only also covers data that is not shared: files and database must change together or not at all.
    if (await tryPages(staged, sharesTargetData(input))) {
      const check = visualCheck(input);
      if (check === null || current === null) return;
      const before = { ...candidate, layout: current, isReadOnly: true };
      const after = { ...candidate, layout: staged, isReadOnly: sharesTargetData(input) };
      return requireVisualMatch(services, { id: workName(operationId), before, after, ...check }, stop);
    }
    await requireDiskSpace(runtime, { copies: [{ environment: target, files: 1, database: 1 }] }, "The trial");
    await tryPages(await runtime.rehearse(target, token), false);
  }

  async function backUpCurrent({ input, operationId }: StepContext<Input>, signal: AbortSignal): Promise<void> {
    const { target: environment } = input;
    const address = addressBefore?.(input) ?? input.address;
    const name = note(input);
    const request = { environment, address, operationId, type: "system-generated", name, note: name } as const;
    const work = () => backUp(services, request, signal);
    if (withoutBackup === undefined) return work();
    return withBypassHint({ operationId, signal, bypassHint: withoutBackup.bypassHint }, work);
  }

  async function tryAndBackUp(context: StepContext<Input>): Promise<void> {
    const { input, operationId, signal } = context;
    const trying = (stop: AbortSignal) => tryStaged(input, operationId, stop);
    const backingUp = (stop: AbortSignal) => backUpCurrent(context, stop);
    await inParallel(signal, withoutBackup?.isChosen(input) ? [trying] : [trying, backingUp]);
  }

  async function prune({ target }: Input): Promise<void> {
    const layout = await runtime.layout(target);
    if (layout !== null) {
      const { wordpressVersion, multisite } = layout;
      await noteRelease(database, target.id, { wordpressVersion, isWildcard: multisite === "subdomain" });
      await publisher.publish();
    }
    await runtime.prune(target);
  }

  return [
    {
      name: "freeze",
      deadlineSeconds: 60,
      run: ({ input, signal }) => freeze(services, input.target, signal),
      undo: ({ input }) => thaw(services, input.target),
    },
    {
      name: "trial-and-backup",
      deadlineSeconds: 3_600,
      run: tryAndBackUp,
      undo: ({ operationId }) => undoBackUp(services, operationId),
    },
    {
      name: "switch",
      deadlineSeconds: 60,
      run: async ({ input: { target, token } }) => {
        await runtime.switchTo(target, token);
        await thaw(services, target);
      },
      undo: async ({ input: { target, token } }) => {
        await runtime.switchBack(target, token);
        await thaw(services, target);
      },
    },
    { name: "prune", deadlineSeconds: 120, run: ({ input }) => prune(input) },
  ];
}
