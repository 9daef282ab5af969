/** State of environments that operations read and change. Changes do nothing if the environment is gone. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

/** An environment for an operation on it. */
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
  /** Name of its runtime. */
  readonly runtime: string;
  readonly php_version: string;
  readonly wordpress_version: string | null;
  readonly is_opt_out_from_automatic_php_update: boolean;
  /** Its primary domain. */
  readonly host: string;
  /** Whether WordPress uses the primary domain with HTTPS. */
  readonly is_https: boolean;
  /** Whether all names below its temporary domain lead to it too. */
  readonly is_wildcard: boolean;
  /** The installation was restored from a backup, and the environment's files are not on this machine yet. */
  readonly awaits_rebuild: boolean;
}

/** Returns null if there is no such environment. */
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

/** A query for `EnvironmentFacts`, in which the environment is `e`. */
export function environmentFacts(database: Database | DatabaseTransaction) {
  return database
    .selectFrom("environments as e")
    .innerJoin("sites as s", "s.id", "e.site_id")
    .innerJoin("domains as d", (join) => join.onRef("d.environment_id", "=", "e.id").on("d.is_primary", "=", true))
    .select(["e.id", "e.number", "e.name", "e.display_name", "e.site_id", "e.company_id"])
    .select(["s.name as site_name", "s.display_name as site_display_name", "s.region", "e.runtime"])
    .innerJoin("domains as t", (join) =>
      join.onRef("t.environment_id", "=", "e.id").on("t.setup_type", "=", "temporary"),
    )
    .select(["e.php_version", "e.wordpress_version", "e.is_opt_out_from_automatic_php_update"])
    .select(["d.name as host", "d.is_https"])
    .select(["t.is_wildcard", "e.awaits_rebuild"]);
}

/**
 * Lists at most `limit` environments of the runtime with one of these PHP versions that have not opted out of automatic changes,
 * without a waiting or running change, and without a failed one in the last `days` days. Companies take turns.
 */
export async function listForPhpUpdate(
  database: Database,
  { runtime, versions }: { readonly runtime: string; readonly versions: readonly string[] },
  days: number,
  limit: number,
): Promise<EnvironmentFacts[]> {
  return environmentFacts(database)
    .where("e.runtime", "=", runtime)
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
    .orderBy(sql`row_number() over (partition by e.company_id order by e.number)`)
    .orderBy("e.number")
    .limit(limit)
    .execute();
}

/** Returns the ids of environments that exist and don't wait to be rebuilt. */
export async function filterPresent(
  database: Database,
  environmentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (environmentIds.length === 0) return new Set();
  const rows = await database
    .selectFrom("environments")
    .select("id")
    .where("id", "in", environmentIds)
    .where("awaits_rebuild", "=", false)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Returns false if the environment is not served or is gone. */
export async function isServing(database: Database, environmentId: string): Promise<boolean> {
  const row = await database
    .selectFrom("environments")
    .select("id")
    .where("id", "=", environmentId)
    .where("state", "=", "serving")
    .executeTakeFirst();
  return row !== undefined;
}

/** While an environment is frozen, the edge refuses writes to it. */
export async function setFrozen(database: Database, environmentId: string, isFrozen: boolean): Promise<void> {
  await database.updateTable("environments").set({ is_frozen: isFrozen }).where("id", "=", environmentId).execute();
}

/** What runs an environment's PHP. */
export interface Php {
  /** Name of the runtime. */
  readonly runtime: string;
  readonly version: string;
  /** Whether the environment keeps a version that has reached its end of life. */
  readonly isOptOut: boolean;
}

/** Returns null if the environment is gone. */
export async function findPhp(database: Database, environmentId: string): Promise<Php | null> {
  const row = await database
    .selectFrom("environments")
    .select(["runtime", "php_version as version", "is_opt_out_from_automatic_php_update as isOptOut"])
    .where("id", "=", environmentId)
    .executeTakeFirst();
  return row ?? null;
}

/** Records the runtime and the PHP version together, because a version belongs to a runtime. */
export async function setRuntime(
  database: Database,
  environmentId: string,
  { runtime, version }: Pick<Php, "runtime" | "version">,
): Promise<void> {
  await database
    .updateTable("environments")
    .set({ runtime, php_version: version })
    .where("id", "=", environmentId)
    .execute();
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

/** Returns the names of the environments' runtimes by environment id. Leaves out environments that don't exist. */
export async function findRuntimes(
  database: Database,
  environmentIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await database
    .selectFrom("environments")
    .select(["id", "runtime"])
    .where("id", "=", sql<string>`any(${[...environmentIds]}::uuid[])`)
    .execute();
  return new Map(rows.map(({ id, runtime }) => [id, runtime]));
}

/** Returns the names of all runtimes that environments have. */
export async function listRuntimes(database: Database): Promise<readonly string[]> {
  const rows = await database.selectFrom("environments").select("runtime").distinct().orderBy("runtime").execute();
  return rows.map(({ runtime }) => runtime);
}

/** A new number makes the edge replace the environment's PHP processes. */
export async function setPhpRun(database: Database, environmentId: string, run: number): Promise<void> {
  await database.updateTable("environments").set({ php_run: run }).where("id", "=", environmentId).execute();
}

/** Copies the runtime, PHP version, limits and wildcard setting of the source to an environment. */
export async function copyServingSettings(database: Database, environmentId: string, sourceId: string): Promise<void> {
  await database
    .updateTable("environments as e")
    .from("environments as source")
    .set((eb) => ({
      runtime: eb.ref("source.runtime"),
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

/** Stores facts about the release that is served now. */
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
