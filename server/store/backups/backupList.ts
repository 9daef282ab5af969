/**
 * Lists of backups, with a cache. Programs poll these lists, which seldom change, and a list of a thousand backups
 * takes several milliseconds of PostgreSQL and this process. So recently requested long lists are cached. Each request
 * compares a version, computed by the database from the transactions that last wrote the rows (`xmin`): changes by any
 * process show at once, without explicit invalidation.
 */

import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import type { BackupType } from "./backups.ts";

/** A backup in lists. */
export interface BackupRecord {
  readonly id: number;
  readonly name: string;
  readonly note: string | null;
  readonly type: BackupType;
  /** Times in milliseconds since 1970. */
  readonly created_at: number;
  readonly verified_at: number;
  readonly expires_at: number;
  readonly last_proven_restore: number | null;
  /** Why the last test restore failed, or null. */
  readonly proof_error: string | null;
  /** Which content is missing or damaged in the archives, or null. */
  readonly damage: string | null;
  readonly size_bytes: number;
}

export interface BackupList {
  readonly display_name: string;
  /** Newest first. */
  readonly backups: readonly BackupRecord[];
}

export interface BackupLists {
  /** Returns the environment's finished backups, or null if there is no such environment. */
  list(environmentId: string): Promise<BackupList | null>;
}

/**
 * Lengths of lists that are cached. Shorter lists are read as quickly as their version; longer ones need too much
 * memory.
 */
const cachedLengths = { min: 100, max: 2_000 };

/** Number of cached lists, with half a kilobyte per backup. */
const cachedLists = 16;

export function makeBackupLists(pool: Pool): BackupLists {
  const cache = new LRUCache<string, VersionedList>({ max: cachedLists });
  return {
    list: async (environmentId) => {
      const cached = cache.get(environmentId);
      if (cached !== undefined && (await findVersion(pool, environmentId)) === cached.version) return cached;
      const list = await readList(pool, environmentId);
      if (isCacheable(list)) cache.set(environmentId, list);
      else cache.delete(environmentId);
      return list;
    },
  };
}

function isCacheable(list: VersionedList | null): list is VersionedList {
  return list !== null && list.backups.length >= cachedLengths.min && list.backups.length <= cachedLengths.max;
}

/** `version` changes with every change to the list. */
interface Versioned {
  readonly version: string;
}

type VersionedList = BackupList & Versioned;

/** Each column of the list as one array, the newest backup first. */
type ListedColumns = { readonly [Column in keyof BackupRecord]: readonly BackupRecord[Column][] };

const listedColumns = ["id", "name", "note", "type", "proof_error", "damage", "size_bytes"] as const;
const listedTimes = ["created_at", "verified_at", "expires_at", "last_proven_restore"] as const;

function arrayOf(value: string, column: keyof BackupRecord): string {
  return `coalesce(json_agg(${value}), '[]') as ${column}`;
}

const isVisible = "e.id = $1 and e.state <> 'adding'";

/** SQL expression over backups `b`. Every write to a row changes its `xmin`. */
const version =
  "concat(count(b.id), ' ', bit_xor(hash_record_extended(row(b.id, b.xmin), 0)), ' ', e.display_name) as version";

const versionQuery = `
  select ${version}
  from environments e left join backups b on b.environment_id = e.id and b.manifest is not null
  where ${isVisible} group by e.id`;

async function findVersion(pool: Pool, environmentId: string): Promise<string | null> {
  const query = { name: "version-of-backups", text: versionQuery, values: [environmentId] };
  const { rows } = await pool.query<Versioned>(query);
  return rows[0]?.version ?? null;
}

/**
 * Returns each column as one JSON array: reading eleven arrays takes half the time of reading a thousand rows of eleven
 * values. A thousand JSON objects take twice as long.
 */
const listQuery = `
  select e.display_name, l.*
  from environments e left join lateral (
    select ${listedColumns.map((column) => arrayOf(`b.${column}`, column)).join(", ")},
      ${version},
      ${listedTimes.map((column) => arrayOf(`(date_part('epoch', b.${column}) * 1000)::bigint`, column)).join(", ")}
    from (
      select *, xmin, bytes as size_bytes from backups
      where environment_id = e.id and manifest is not null order by id desc
    ) b
  ) l on true
  where e.id = $1 and e.state <> 'adding'`;

async function readList(pool: Pool, environmentId: string): Promise<VersionedList | null> {
  const query = { name: "list-backups", text: listQuery, values: [environmentId] };
  const { rows } = await pool.query<ListedColumns & Omit<VersionedList, "backups">>(query);
  const [found] = rows;
  if (found === undefined) return null;
  return { display_name: found.display_name, version: found.version, backups: recordsOf(found) };
}

function recordsOf(columns: ListedColumns): BackupRecord[] {
  return columns.id.map((id, index) => ({
    id,
    name: valueAt(columns.name, index),
    note: valueAt(columns.note, index),
    type: valueAt(columns.type, index),
    created_at: valueAt(columns.created_at, index),
    verified_at: valueAt(columns.verified_at, index),
    expires_at: valueAt(columns.expires_at, index),
    last_proven_restore: valueAt(columns.last_proven_restore, index),
    proof_error: valueAt(columns.proof_error, index),
    damage: valueAt(columns.damage, index),
    size_bytes: valueAt(columns.size_bytes, index),
  }));
}

function valueAt<Value>(column: readonly Value[], index: number): Value {
  const value = column[index];
  if (value === undefined) throw new Error("The columns of the list differ in length");
  return value;
}
