/**
 * Starts automatic updates of plugins and themes, in the update window of each environment. Vulnerable packages are updated
 * earlier if the window would open too late.
 *
 * All of an environment's due plugins, or themes, are updated together, as one release. If that fails, it is not known which
 * package caused it, so each is then updated alone: at once if the checks rejected the release, otherwise soon. A package that
 * is rejected alone is skipped for a week (a day if it is vulnerable) or until there is a newer version.
 */

import type { Database, PackageKind } from "../store/database.ts";
import {
  countAutomaticOperations,
  type DueEnvironment,
  type DueUpdate,
  findDueUpdates,
} from "../store/packages/automaticUpdates.ts";
import { nextOpening } from "../updateWindow.ts";

interface UpdateAutomaticallyOptions {
  readonly database: Database;
  /** Starts the update of these packages. */
  readonly begin: (environmentId: string, kind: PackageKind, names: readonly string[]) => Promise<void>;
  readonly now?: () => Date;
}

/** Each update copies a site and tests the copy, and visitors need the machine too. One more may run of an idle company. */
const concurrency = 4;
const hour = 3_600_000;

/** A failure in one environment does not stop the others. Rejects at the end if any failed. */
export async function updateAutomatically(options: UpdateAutomaticallyOptions): Promise<void> {
  const { database, begin, now = () => new Date() } = options;
  let running = await countAutomaticOperations(database);
  const begun = new Set<string>();
  const errors: Error[] = [];
  for (const environment of await findDueUpdates(database)) {
    const isIdle = environment.isCompanyIdle && !begun.has(environment.companyId);
    if (running >= concurrency + Number(isIdle)) continue;
    try {
      const next = nextUpdate(environment, now());
      if (next === null) continue;
      await begin(environment.id, next.kind, next.names);
      running += 1;
      begun.add(environment.companyId);
    } catch (cause) {
      errors.push(new Error(`Starting the automatic update of environment ${environment.id} failed`, { cause }));
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, `Automatic updates that could not start: ${errors.length}`);
}

interface NextUpdate {
  readonly kind: PackageKind;
  readonly names: readonly string[];
}

/** The packages to update now, or null if none. */
export function nextUpdate(environment: DueEnvironment, now: Date): NextUpdate | null {
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

/** Whether a vulnerable package's update deadline passes before the window opens. */
function isTooLateAt(
  opening: Date | null,
  { vulnerable_within_hours: hours }: DueEnvironment,
  { vulnerable_since: since }: DueUpdate,
): boolean {
  if (since === null || hours === null) return false;
  return opening === null || opening.getTime() >= since.getTime() + hours * hour;
}
