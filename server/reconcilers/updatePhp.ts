/**
 * Moves environments off versions of PHP that have come to their end, one operation each: what does not answer on the
 * new version stays on the old one. Who opted out is left alone, and whoever's change failed is asked again a week later.
 */
import type { Database } from "../store/database.ts";
import { type EnvironmentFacts, listForPhpUpdate } from "../store/sites/environmentStates.ts";

export interface UpdatePhpOptions {
  readonly database: Database;
  /** Versions that have come to their end. */
  readonly ended: readonly string[];
  /** Versions that the runtime offers, ascending. */
  readonly offered: readonly string[];
  /** Starts the operation that changes the version. */
  readonly change: (environment: EnvironmentFacts, version: string) => Promise<void>;
}

const daysUntilAskedAgain = 7;
/** A few at a time: each is tried out in a PHP process of its own. */
const atOnce = 5;

/** The oldest version after this one that has not come to its end; null if there is none. */
export function nextVersion(version: string, { ended, offered }: Pick<UpdatePhpOptions, "ended" | "offered">) {
  return offered.find((other) => isOlder(version, other) && !ended.includes(other)) ?? null;
}

function isOlder(version: string, other: string): boolean {
  return version.localeCompare(other, "en", { numeric: true }) < 0;
}

export async function updatePhp(options: UpdatePhpOptions): Promise<void> {
  const { database, change } = options;
  // Those for which there is nothing better must not stand before the others for ever.
  const left = options.ended.filter((version) => nextVersion(version, options) !== null);
  if (left.length === 0) return;
  for (const environment of await listForPhpUpdate(database, left, daysUntilAskedAgain, atOnce)) {
    const version = nextVersion(environment.php_version, options);
    if (version !== null) await change(environment, version);
  }
}
