/** What operations read and change of an environment's row. Each change tolerates that the row is gone. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

/** An environment as an operation on it needs it. */
export interface EnvironmentFacts {
  readonly id: string;
  readonly number: number;
  readonly name: string;
  readonly display_name: string;
  readonly site_id: string;
  readonly company_id: string;
  readonly site_name: string;
  readonly site_display_name: string;
  readonly region: string;
  readonly php_version: string;
  readonly wordpress_version: string | null;
  readonly is_opt_out_from_automatic_php_update: boolean;
  /** Its primary domain. */
  readonly host: string;
  /** Whether WordPress knows that by https. */
  readonly is_https: boolean;
  /** Whether every name below the one that it has from the installation leads to it, too. */
  readonly is_wildcard: boolean;
  /** It was restored on another machine, and nothing of it is there yet. */
  readonly awaits_rebuild: boolean;
}

/** Null if there is no such environment to be seen. */
export async function environmentForOperation(
  database: Database | DatabaseTransaction,
  environmentId: string,
): Promise<EnvironmentFacts | null> {
  const row = await environmentFacts(database)
    .where("e.id", "=", environmentId)
    .where("e.state", "<>", "adding")
    .executeTakeFirst();
  return row ?? null;
}

/** Rows of `EnvironmentFacts`; the environment is `e`. */
export function environmentFacts(database: Database | DatabaseTransaction) {
  return database
    .selectFrom("environments as e")
    .innerJoin("sites as s", "s.id", "e.site_id")
    .innerJoin("domains as d", (join) => join.onRef("d.environment_id", "=", "e.id").on("d.is_primary", "=", true))
    .select(["e.id", "e.number", "e.name", "e.display_name", "e.site_id", "e.company_id"])
    .select(["s.name as site_name", "s.display_name as site_display_name", "s.region", "e.php_version"])
    .innerJoin("domains as t", (join) =>
      join.onRef("t.environment_id", "=", "e.id").on("t.setup_type", "=", "temporary"),
    )
    .select(["e.wordpress_version", "e.is_opt_out_from_automatic_php_update", "d.name as host", "d.is_https"])
    .select(["t.is_wildcard", "e.awaits_rebuild"]);
}

/**
 * At most `limit` environments that run one of the versions, did not opt out of automatic changes, have none under way,
 * and had none that failed in the last `days` days.
 */
export async function listForPhpUpdate(
  database: Database,
  versions: readonly string[],
  days: number,
  limit: number,
): Promise<EnvironmentFacts[]> {
  return environmentFacts(database)
    .where("e.php_version", "in", [...versions])
    .where("e.state", "=", "serving")
    .where("e.is_opt_out_from_automatic_php_update", "=", false)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("operations as o")
            .select("o.id")
            .whereRef("o.environment_id", "=", "e.id")
            .where("o.kind", "=", "modifyPhpVersion")
            .where(({ or, eb }) =>
              or([
                eb("o.state", "in", ["waiting", "running"]),
                eb("o.finished_at", ">", sql<Date>`now() - make_interval(days => ${days}::int)`).and(
                  "o.state",
                  "=",
                  "failed",
                ),
              ]),
            ),
        ),
      ),
    )
    .orderBy("e.number")
    .limit(limit)
    .execute();
}

/** Those of the environments that are there, with what is in them. */
export async function findPresent(database: Database, environmentIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (environmentIds.length === 0) return new Set();
  const rows = await database
    .selectFrom("environments")
    .select("id")
    .where("id", "in", environmentIds)
    .where("awaits_rebuild", "=", false)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** False also where the environment is gone. */
export async function isServing(database: Database, environmentId: string): Promise<boolean> {
  const row = await database
    .selectFrom("environments")
    .select("id")
    .where("id", "=", environmentId)
    .where("state", "=", "serving")
    .executeTakeFirst();
  return row !== undefined;
}

/** While it is frozen, the edge refuses what would be written to it. */
export async function setFrozen(database: Database, environmentId: string, isFrozen: boolean): Promise<void> {
  await database.updateTable("environments").set({ is_frozen: isFrozen }).where("id", "=", environmentId).execute();
}

/** Null if the environment is gone. */
export async function findPhp(
  database: Database,
  environmentId: string,
): Promise<{ readonly version: string; readonly isOptOut: boolean } | null> {
  const row = await database
    .selectFrom("environments")
    .select(["php_version as version", "is_opt_out_from_automatic_php_update as isOptOut"])
    .where("id", "=", environmentId)
    .executeTakeFirst();
  return row ?? null;
}

export async function setPhpVersion(database: Database, environmentId: string, version: string): Promise<void> {
  await database.updateTable("environments").set({ php_version: version }).where("id", "=", environmentId).execute();
}

export async function setPhpOptOut(
  transaction: DatabaseTransaction,
  environmentId: string,
  isOptOut: boolean,
): Promise<void> {
  await transaction
    .updateTable("environments")
    .set({ is_opt_out_from_automatic_php_update: isOptOut })
    .where("id", "=", environmentId)
    .execute();
}

/** Another number than before makes the edge replace the environment's PHP processes. */
export async function setPhpRun(database: Database, environmentId: string, run: number): Promise<void> {
  await database.updateTable("environments").set({ php_run: run }).where("id", "=", environmentId).execute();
}

/** Returns a copy what its source is served with: the version of PHP, what it may take, and whether every name below its own leads to it. */
export async function serveLike(database: Database, environmentId: string, sourceId: string): Promise<void> {
  await database
    .updateTable("environments as e")
    .from("environments as source")
    .set((eb) => ({
      php_version: eb.ref("source.php_version"),
      php_threads: eb.ref("source.php_threads"),
      php_memory_mb: eb.ref("source.php_memory_mb"),
      request_seconds: eb.ref("source.request_seconds"),
      disk_quota_bytes: eb.ref("source.disk_quota_bytes"),
    }))
    .where("e.id", "=", environmentId)
    .where("source.id", "=", sourceId)
    .execute();
  await database
    .updateTable("domains as d")
    .from("domains as source")
    .set((eb) => ({ is_wildcard: eb.ref("source.is_wildcard") }))
    .where("d.environment_id", "=", environmentId)
    .where("source.environment_id", "=", sourceId)
    .where("d.setup_type", "=", "temporary")
    .where("source.setup_type", "=", "temporary")
    .execute();
}

/** What the release that is served now says of itself. */
export async function noteRelease(
  database: Database,
  environmentId: string,
  release: { readonly wordpressVersion: string | null; readonly isWildcard: boolean },
): Promise<void> {
  await database
    .updateTable("environments")
    .set({ wordpress_version: release.wordpressVersion })
    .where("id", "=", environmentId)
    .execute();
  await database
    .updateTable("domains")
    .set({ is_wildcard: release.isWildcard })
    .where("environment_id", "=", environmentId)
    .where("setup_type", "=", "temporary")
    .execute();
}
