/**
 * Moves environments off PHP versions that have reached end of life, one operation each. An environment that does not work on
 * the new version stays on the old one and is retried a week later. Environments that opted out are skipped.
 */
import type { Database } from "../store/database.ts";
import { type EnvironmentFacts, listForPhpUpdate } from "../store/sites/environmentStates.ts";

interface UpdatePhpOptions {
  readonly database: Database;
  /** Versions that have reached end of life. */
  readonly ended: readonly string[];
  /** Versions that each runtime offers, ascending. */
  readonly offered: ReadonlyMap<string, readonly string[]>;
  /** Starts the operation that changes the version. */
  readonly change: (environment: EnvironmentFacts, version: string) => Promise<void>;
}

const retryDays = 7;
/** Few, because each change is tested in its own PHP process. */
const concurrency = 5;

/** The oldest later version that has not reached end of life, or null. */
export function nextVersion(version: string, ended: readonly string[], offered: readonly string[]): string | null {
  return offered.find((other) => isOlder(version, other) && !ended.includes(other)) ?? null;
}

function isOlder(version: string, other: string): boolean {
  return version.localeCompare(other, "en", { numeric: true }) < 0;
}

export async function updatePhp({ database, ended, offered, change }: UpdatePhpOptions): Promise<void> {
  for (const [runtime, versions] of offered) {
    const next = (version: string) => nextVersion(version, ended, versions);
    // Otherwise environments without a newer version would fill the batch for ever.
    const updatable = ended.filter((version) => next(version) !== null);
    if (updatable.length === 0) continue;
    for (const environment of await listForPhpUpdate(
      database,
      { runtime, versions: updatable },
      retryDays,
      concurrency,
    )) {
      const version = next(environment.php_version);
      if (version !== null) await change(environment, version);
    }
  }
}
