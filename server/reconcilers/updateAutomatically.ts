/**
 * Updates plugins and themes of environments that want that, in the hours in which they want it; and what is known to be
 * vulnerable also before these, where they would come too late.
 *
 * All of an environment's plugins, or themes, are updated together, as one release. Where that does not come about nobody knows yet
 * because of which of them: each is tried alone then, at once where they were refused, and else soon. One that is refused alone is
 * left alone for a week, for a day where it is vulnerable, or until there is another version.
 */

import type { Database, PackageKind } from "../store/database.ts";
import {
  countAutomaticOperations,
  type DueEnvironment,
  type DueUpdate,
  findDueUpdates,
} from "../store/packages/automaticUpdates.ts";
import { nextOpening } from "../updateWindow.ts";

export interface UpdateAutomaticallyOptions {
  readonly database: Database;
  /** Starts the update of these. */
  readonly begin: (environmentId: string, kind: PackageKind, names: readonly string[]) => Promise<void>;
  readonly now?: () => Date;
}

/** Each copies a site and tries it out, and visitors need the machine too. */
const atOnce = 4;
const hour = 3_600_000;

/** What can't be begun in one environment keeps no other from it. Rejects then, when all have had their turn. */
export async function updateAutomatically(options: UpdateAutomaticallyOptions): Promise<void> {
  const { database, begin, now = () => new Date() } = options;
  let free = atOnce - (await countAutomaticOperations(database));
  if (free <= 0) return;
  const errors: Error[] = [];
  for (const environment of await findDueUpdates(database)) {
    try {
      const turn = turnOf(environment, now());
      if (turn === null) continue;
      await begin(environment.id, turn.kind, turn.names);
      free -= 1;
    } catch (cause) {
      errors.push(new Error(`The environment ${environment.id} can't be updated by itself`, { cause }));
    }
    if (free <= 0) break;
  }
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} environments can't be updated by themselves`);
}

interface Turn {
  readonly kind: PackageKind;
  readonly names: readonly string[];
}

/** What is begun now; null: nothing. */
export function turnOf(environment: DueEnvironment, now: Date): Turn | null {
  const opening = nextOpening(environment.window, now);
  const isOpen = opening?.getTime() === now.getTime();
  const due = environment.updates.filter((update) => isOpen || isTooLateAt(opening, environment, update));
  for (const kind of ["plugin", "theme"] as const) {
    const ofKind = due.filter((update) => update.kind === kind);
    const together = ofKind.filter(({ tried_among }) => tried_among === null || tried_among === 1);
    const alone = ofKind.find(({ tried_among }) => tried_among !== null && tried_among > 1);
    if (together.length > 0) return { kind, names: together.map(({ name }) => name) };
    if (alone !== undefined) return { kind, names: [alone.name] };
  }
  return null;
}

/** Whether the hours within which it is to be updated are over before the window opens. */
function isTooLateAt(
  opening: Date | null,
  { vulnerable_within_hours: hours }: DueEnvironment,
  { vulnerable_since: since }: DueUpdate,
): boolean {
  if (since === null || hours === null) return false;
  return opening === null || opening.getTime() >= since.getTime() + hours * hour;
}
