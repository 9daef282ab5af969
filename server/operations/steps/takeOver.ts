/**
 * How a staged release takes the place of the one that visitors see: it is tried out while the present one is backed up,
 * and switched to by one rename; the same rename undoes it.
 *
 * What could be written to the environment in between is refused by the edge for that time, so that nothing is accepted
 * and then lost. `docs/decisions/pushing.md` says more.
 */
import type { EnvironmentLayout, EnvironmentRef } from "@sitewright/runtimes/runtime.ts";
import { noteRelease, setFrozen } from "../../store/sites/environmentStates.ts";
import { type Step, type StepContext, StepFailure } from "../engine/operation.ts";
import { atOnce } from "./atOnce.ts";
import { backUp, removeBackUp, workName } from "./backup.ts";
import { withBypassHint } from "./bypassHint.ts";
import { requireRoom } from "./diskRoom.ts";
import { patientlyTryOut } from "./patientTrial.ts";
import { phpOf } from "./phpOf.ts";
import type { Services } from "./services.ts";
import { frontPage, type TrialPage } from "./trial.ts";
import { requireVisualMatch } from "./visualCheck.ts";

/** What an operation's input must say. */
export interface TakeOver {
  /** Names the release that is staged. */
  readonly token: string;
  readonly target: EnvironmentRef;
  /** Of the target. */
  readonly address: string;
}

export interface TakeOverFacts<Input> {
  /** How a sentence names what is tried out: `What would be pushed`. */
  readonly what: string;
  /** Of the backup that is made before: `Before a push from Staging`. */
  note(input: Input): string;
  /** Whether something of the target's own is served by the next release too: trying that out must not change it. */
  sharesOwn(input: Input): boolean;
  /** Where the present release can't be backed up: how to do without. Absent: then it is not replaced. */
  readonly withoutBackup?: {
    /** A sentence. */
    readonly bypassHint: string;
    isChosen(input: Input): boolean;
  };
  /** Of the present release, which is backed up. Absent: the same as the next one's. */
  readonly addressBefore?: (input: Input) => string;
  /** What is asked for when it is tried out. Absent: the front page, which comes without an error. */
  readonly pages?: (input: Input) => readonly TrialPage[];
  /** Whether it is the same site in other versions, of which no page may be worse than at present. Absent: false. */
  readonly isSameSite?: boolean;
  /** Whether it must look as before, and where; null: it need not. Absent: it never need. */
  readonly looks?: (input: Input) => Looks | null;
}

export interface Looks {
  /** Besides the front page. */
  readonly paths: readonly string[];
  /** From 0 to 100: so much of a picture may be another. */
  readonly threshold: number;
}

const trialSeconds = 90;

/** In force when what PHP had begun to write before has ended. */
export async function freeze(
  { database, publisher, settle }: Services,
  { id }: EnvironmentRef,
  signal: AbortSignal,
): Promise<void> {
  await setFrozen(database, id, true);
  await publisher.publish();
  await settle(id, signal);
}

export async function thaw({ database, publisher }: Services, { id }: EnvironmentRef): Promise<void> {
  await setFrozen(database, id, false);
  await publisher.publish();
}

/**
 * The steps before it where all that the next release is made of is the environment's own: nothing can be written from the moment
 * when it is copied, because what somebody wrote after that would be lost.
 */
export function holdAndStage<Input extends TakeOver>(
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

/** The last step can't be undone. */
export function takeOver<Input extends TakeOver>(
  services: Services,
  facts: TakeOverFacts<Input>,
): readonly [Step<Input>, Step<Input>, Step<Input>, Step<Input>] {
  const { database, runtime, publisher, tryOut } = services;
  const { what, note, sharesOwn, addressBefore, isSameSite = false, withoutBackup } = facts;
  const { pages = () => [frontPage], looks = () => null } = facts;

  /** Where its first page wants to change something, and visitors use a part of it, it is tried out as a copy. */
  async function tryStaged(input: Input, operationId: string, stop: AbortSignal): Promise<void> {
    const { target, token, address } = input;
    const { version: phpVersion } = await phpOf(database, target.id);
    const staged = await runtime.staged(target, token);
    if (staged === null) throw new StepFailure("What was built is not there any more.");
    const present = await runtime.layout(target);
    const candidate = { environment: target, phpVersion, address, what };
    const compared = isSameSite && present !== null ? { ...candidate, present } : candidate;
    const tryPages = async (layout: EnvironmentLayout, isReadOnly: boolean): Promise<boolean> => {
      for (const page of pages(input)) {
        const one = { ...compared, layout, page, isReadOnly };
        if (!(await patientlyTryOut(tryOut, one, trialSeconds, stop))) return false;
      }
      return true;
    };
    // What one half of it writes may belong to what the other half does: either both are changed or neither.
    if (await tryPages(staged, sharesOwn(input))) {
      const wish = looks(input);
      if (wish === null || present === null) return;
      const before = { ...candidate, layout: present, isReadOnly: true };
      const after = { ...candidate, layout: staged, isReadOnly: sharesOwn(input) };
      return requireVisualMatch(services, { id: workName(operationId), before, after, ...wish }, stop);
    }
    await requireRoom(runtime, { copies: [{ environment: target, files: 1, database: 1 }] }, "Trying it out");
    await tryPages(await runtime.rehearse(target, token), false);
  }

  async function backUpPresent({ input, operationId }: StepContext<Input>, signal: AbortSignal): Promise<void> {
    const { target: environment } = input;
    const address = addressBefore?.(input) ?? input.address;
    const name = note(input);
    const wish = { environment, address, operationId, type: "system-generated", name, note: name } as const;
    const work = () => backUp(services, wish, signal);
    if (withoutBackup === undefined) return work();
    return withBypassHint({ operationId, signal, bypassHint: withoutBackup.bypassHint }, work);
  }

  async function tryAndBackUp(context: StepContext<Input>): Promise<void> {
    const { input, operationId, signal } = context;
    const trying = (stop: AbortSignal) => tryStaged(input, operationId, stop);
    const backingUp = (stop: AbortSignal) => backUpPresent(context, stop);
    await atOnce(signal, withoutBackup?.isChosen(input) ? [trying] : [trying, backingUp]);
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
      undo: ({ operationId }) => removeBackUp(services, operationId),
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
