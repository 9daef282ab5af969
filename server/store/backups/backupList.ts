/**
 * The list of an environment's backups, which programs ask for again and again and which seldom changes. A thousand backups
 * take PostgreSQL and this process several milliseconds to hand over, so the long lists that were asked for last are kept.
 * Whether one still holds is asked of the database each time, by the transaction that wrote each row last (`xmin`): what
 * any process has changed is seen at once, and nobody has to remember to tell.
 */

import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import type { BackupType } from "./backups.ts";

/** A backup as lists show it. */
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
  /** What was wrong when it was last restored for a proof. */
  readonly proof_error: string | null;
  /** What it needs of the archives and was found missing or damaged. */
  readonly damage: string | null;
  readonly size_bytes: number;
}

export interface BackupList {
  readonly display_name: string;
  /** The newest first. */
  readonly backups: readonly BackupRecord[];
}

export interface BackupLists {
  /** The environment's finished backups. Null if there is no such environment to be seen. */
  list(environmentId: string): Promise<BackupList | null>;
}

/** Of backups. A shorter list is read as quickly as its version; a longer one would take too much memory. */
const keptLengths = { least: 100, most: 2_000 };

/** Up to twice as many lists are kept, of half a kilobyte for each backup. */
const keptLists = 16;

export function makeBackupLists(pool: Pool): BackupLists {
  const kept = new LRUCache<string, VersionedList>({ max: keptLists });
  return {
    list: async (environmentId) => {
      const known = kept.get(environmentId);
      if (known !== undefined && (await findVersion(pool, environmentId)) === known.version) return known;
      const list = await readList(pool, environmentId);
      if (isKept(list)) kept.set(environmentId, list);
      else kept.delete(environmentId);
      return list;
    },
  };
}

function isKept(list: VersionedList | null): list is VersionedList {
  return list !== null && list.backups.length >= keptLengths.least && list.backups.length <= keptLengths.most;
}

/** The same as long as nothing that a list shows was written. */
interface Versioned {
  readonly version: string;
}

type VersionedList = BackupList & Versioned;

/** Each column of the list as one array, the newest backup first. */
type ListedColumns = { readonly [Column in keyof BackupRecord]: readonly BackupRecord[Column][] };

const listedColumns = ["id", "name", "note", "type", "proof_error", "damage", "size_bytes"] as const;
const listedMoments = ["created_at", "verified_at", "expires_at", "last_proven_restore"] as const;

function arrayOf(value: string, column: keyof BackupRecord): string {
  return `coalesce(json_agg(${value}), '[]') as ${column}`;
}

const shown = "e.id = $1 and e.state <> 'adding'";

/** Of `b`. A row that is written again has another `xmin`. */
const version =
  "concat(count(b.id), ' ', bit_xor(hash_record_extended(row(b.id, b.xmin), 0)), ' ', e.display_name) as version";

const versionQuery = `
  select ${version}
  from environments e left join backups b on b.environment_id = e.id and b.manifest is not null
  where ${shown} group by e.id`;

async function findVersion(pool: Pool, environmentId: string): Promise<string | null> {
  const query = { name: "version-of-backups", text: versionQuery, values: [environmentId] };
  const { rows } = await pool.query<Versioned>(query);
  return rows[0]?.version ?? null;
}

/**
 * A thousand rows of eleven columns are eleven thousand values to be taken in one by one. Eleven columns of JSON take half of
 * the time, a thousand objects of it twice as long.
 */
const listQuery = `
  select e.display_name, l.*
  from environments e left join lateral (
    select ${listedColumns.map((column) => arrayOf(`b.${column}`, column)).join(", ")},
      ${version},
      ${listedMoments.map((column) => arrayOf(`(date_part('epoch', b.${column}) * 1000)::bigint`, column)).join(", ")}
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
  if (value === undefined) throw new Error("The columns of a list differ in length");
  return value;
}
