/** API keys: looked up for requests, like sessions, and listed and revoked by users. */
import { sql } from "kysely";
import type { Pool } from "pg";
import type { Database, DatabaseTransaction, Role } from "../database.ts";
import { labelledSitesOfKey, sitesOfUser } from "../sites/labels.ts";
import { idleDays } from "./sessions.ts";

/** Notified with the id of a company when its keys or their users change. See migration 0062. */
export const keysChangedChannel = "keys_changed";

/** A key or session with its user. */
export interface KeyRecord {
  readonly key_id: string;
  readonly key_kind: "key" | "session";
  readonly key_name: string;
  readonly secret_hash: Buffer;
  readonly scopes: readonly string[] | null;
  readonly expires_at: Date | null;
  readonly allowed_addresses: readonly string[] | null;
  /** Neither revoked nor expired, by the database's clock, and no session that was not used for long. */
  readonly is_usable: boolean;
  readonly company_id: string;
  readonly user_id: string;
  readonly role: Role;
  readonly full_name: string;
  readonly first_name: string;
  /** Sites that have one of the labels in `scopes`. */
  readonly labelled_sites: readonly string[];
  /** The only sites that the user has, also because of their labels. Null: all. */
  readonly site_ids: readonly string[] | null;
  readonly is_operator: boolean;
  readonly must_change_password: boolean;
  /** Whether the company requires a second factor, which the user does not have. */
  readonly must_add_second_factor: boolean;
}

/** Company and site of the resource that a request acts on; both null if it does not exist. */
export interface TargetRecord {
  readonly target_company_id: string | null;
  readonly target_site_id: string | null;
  /** Whether it is a live environment; null if it is not an environment. */
  readonly target_is_live: boolean | null;
}

export type TargetKind = "site" | "environment" | "operation" | "backup" | "deletedSite" | "domain";

const keyColumns = `
  k.id as key_id, k.kind as key_kind, k.name as key_name, k.secret_hash, k.scopes, k.expires_at, k.allowed_addresses,
  (k.revoked_at is null and (k.expires_at is null or k.expires_at > now()) and (k.kind = 'key'
    or coalesce(k.last_used_at, k.created_at) > now() - interval '${idleDays} days')) as is_usable,
  k.company_id, u.id as user_id, u.role, u.full_name, u.first_name, ${sitesOfUser} as site_ids,
  ${labelledSitesOfKey} as labelled_sites, u.is_operator, u.must_change_password,
  c.requires_second_factor and u.second_factor_since is null as must_add_second_factor`;

/** Sites and environments count once they are visible; backups also if their environment was deleted. */
const targets: Record<TargetKind, (id: string) => string> = {
  site: (id) =>
    `select company_id, id as site_id, null::boolean as is_live from sites where id = ${id} and state <> 'adding'`,
  environment: (id) =>
    `select company_id, site_id, name = 'live' as is_live from environments where id = ${id} and state <> 'adding'`,
  backup: (id) =>
    `select b.company_id, b.site_id, coalesce(e.name, d.name) = 'live' as is_live
      from backups b left join environments e on e.id = b.environment_id
        left join deleted_environments d on d.id = b.environment_id
      where b.id = ${id}::bigint and b.manifest is not null`,
  deletedSite: (id) =>
    `select company_id, id as site_id, null::boolean as is_live from deleted_sites
      where id = ${id} and restorable_until > now()`,
  domain: (id) =>
    `select d.company_id, d.site_id, e.name = 'live' as is_live from domains d join environments e on e.id = d.environment_id
      where d.id = ${id} and e.state <> 'adding'`,
  operation: (id) => `select company_id, site_id, null::boolean as is_live from operations where id = ${id}`,
};

const targetColumns = "t.company_id as target_company_id, t.site_id as target_site_id, t.is_live as target_is_live";

/** Finds company and site of a resource. Returns null if it does not exist. */
export async function findTarget(pool: Pool, kind: TargetKind, id: string): Promise<TargetRecord | null> {
  const { rows } = await pool.query<TargetRecord>({
    name: `find-${kind}`,
    text: `select ${targetColumns} from (${targets[kind]("$1")}) t`,
    values: [id],
  });
  return rows[0] ?? null;
}

/**
 * Finds a key together with company and site of the target, in one round trip, because it runs before every request.
 * Returns null if there is no such key.
 */
export async function findKey(
  pool: Pool,
  keyId: string,
  target: { readonly kind: TargetKind; readonly id: string } | null,
): Promise<(KeyRecord & TargetRecord) | null> {
  const from = "from api_keys k join users u on u.id = k.user_id join companies c on c.id = u.company_id";
  const query = target
    ? {
        name: `find-key-and-${target.kind}`,
        text: `select ${keyColumns}, ${targetColumns}
          ${from} left join lateral (${targets[target.kind]("$2")}) t on true where k.id = $1`,
        values: [keyId, target.id],
      }
    : {
        name: "find-key",
        text: `select ${keyColumns}, null as target_company_id, null as target_site_id, null as target_is_live
          ${from} where k.id = $1`,
        values: [keyId],
      };
  const { rows } = await pool.query<KeyRecord & TargetRecord>(query);
  return rows[0] ?? null;
}

export interface NewApiKey {
  readonly id: string;
  readonly companyId: string;
  readonly userId: string;
  readonly name: string;
  readonly secretHash: Buffer;
  readonly scopes: readonly string[] | null;
  readonly expiresAt: Date | null;
  /** Default: it is accepted from anywhere. */
  readonly allowedAddresses?: readonly string[] | null;
  /** The key that creates it; absent: the operator. */
  readonly createdBy?: string | null;
}

export async function insertApiKey(transaction: DatabaseTransaction, key: NewApiKey): Promise<void> {
  await transaction
    .insertInto("api_keys")
    .values({
      id: key.id,
      company_id: key.companyId,
      user_id: key.userId,
      name: key.name,
      secret_hash: key.secretHash,
      scopes: key.scopes ? [...key.scopes] : null,
      expires_at: key.expiresAt,
      allowed_addresses: key.allowedAddresses ? [...key.allowedAddresses] : null,
      created_by: key.createdBy ?? null,
    })
    .execute();
}

/** The role and the sites of a key's user, or null if the key can't be used any more. */
export async function findPermissions(
  transaction: DatabaseTransaction,
  keyId: string,
): Promise<Pick<KeyRecord, "role" | "site_ids"> | null> {
  const { rows } = await sql<Pick<KeyRecord, "role" | "site_ids">>`
    select u.role, u.site_ids from api_keys k join users u on u.id = k.user_id
    where k.id = ${keyId} and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`.execute(
    transaction,
  );
  return rows[0] ?? null;
}

const visibleColumns = [
  "id",
  "name",
  "user_id",
  "scopes",
  "expires_at",
  "revoked_at",
  "created_by",
  "replaced_by",
  "last_used_at",
  "allowed_addresses",
] as const;

/** The visible part of a key. */
export interface ShownKey {
  readonly id: string;
  readonly name: string;
  readonly user_id: string;
  readonly scopes: readonly string[] | null;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly created_by: string | null;
  readonly replaced_by: string | null;
  readonly last_used_at: Date | null;
  readonly allowed_addresses: readonly string[] | null;
}

/** Lists the keys of a company, or of one of its users, newest first. */
export function listApiKeys(database: Database, companyId: string, userId: string | null): Promise<ShownKey[]> {
  return database
    .selectFrom("api_keys")
    .select(visibleColumns)
    .where("company_id", "=", companyId)
    .where("kind", "=", "key")
    .$if(userId !== null, (query) => query.where("user_id", "=", userId ?? ""))
    .orderBy("created_at", "desc")
    .orderBy("id")
    .execute();
}

/** Finds a key of the company, locked until the transaction ends, or null. */
export async function lockApiKey(
  transaction: DatabaseTransaction,
  companyId: string,
  keyId: string,
): Promise<ShownKey | null> {
  const key = await transaction
    .selectFrom("api_keys")
    .select(visibleColumns)
    .where("company_id", "=", companyId)
    .where("kind", "=", "key")
    .where("id", "=", keyId)
    .forUpdate()
    .executeTakeFirst();
  return key ?? null;
}

/** Deletes a key. Entries in the activity log stay. */
export async function deleteApiKey(database: Database, keyId: string): Promise<void> {
  await database.deleteFrom("api_keys").where("id", "=", keyId).execute();
}

/**
 * Deletes keys that were revoked or expired that long ago. Keys with keys below them stay until those are deleted, so that
 * revoking a key never misses one below it.
 */
export async function deleteEndedApiKeys(database: Database, days: number): Promise<void> {
  await sql`
    delete from api_keys k where least(k.revoked_at, k.expires_at) < now() - make_interval(days => ${days}::int)
      and not exists (select from api_keys below where below.created_by = k.id)`.execute(database);
}

/**
 * Locks a key that is about to create another one until the transaction ends, so that it can be neither revoked nor
 * restricted in between. Returns null if it is revoked.
 */
export async function lockCreatingKey(transaction: DatabaseTransaction, keyId: string): Promise<ShownKey | null> {
  const found = await transaction
    .selectFrom("api_keys")
    .select(visibleColumns)
    .where("id", "=", keyId)
    .where("revoked_at", "is", null)
    .forShare()
    .executeTakeFirst();
  return found ?? null;
}

/**
 * Changes the addresses from which a key is accepted, and reduces those of all keys that were created with it, and with
 * those: `reduce` returns what is left of a key's list below its creator's. Keys are locked like in `revokeApiKey`.
 */
export async function setAllowedAddresses(
  transaction: DatabaseTransaction,
  keyId: string,
  list: readonly string[] | null,
  reduce: (list: readonly string[] | null, creators: readonly string[] | null) => readonly string[] | null,
): Promise<void> {
  await storeAddresses(transaction, keyId, list);
  const created = await transaction
    .selectFrom("api_keys")
    .select(["id", "allowed_addresses"])
    .where("created_by", "=", keyId)
    .orderBy("id")
    .forNoKeyUpdate()
    .execute();
  for (const { id, allowed_addresses } of created) {
    await setAllowedAddresses(transaction, id, reduce(allowed_addresses, list), reduce);
  }
}

async function storeAddresses(
  transaction: DatabaseTransaction,
  keyId: string,
  list: readonly string[] | null,
): Promise<void> {
  await transaction
    .updateTable("api_keys")
    .set({ allowed_addresses: list && [...list] })
    .where("id", "=", keyId)
    .execute();
}

/**
 * Revokes a key, all keys that were created with it, and with those, and the keys that have replaced any of them. Each is
 * locked before those are looked for, so that none is created in between. `keepsSuccessor`: the key that has replaced the
 * first one stays.
 */
export async function revokeApiKey(
  transaction: DatabaseTransaction,
  keyId: string,
  at: Date,
  { keepsSuccessor = false } = {},
): Promise<void> {
  for (let revoked = [keyId]; revoked.length > 0; ) {
    const replaced = await transaction
      .updateTable("api_keys")
      .set((columns) => ({ revoked_at: columns.fn.coalesce("revoked_at", columns.val(at)) }))
      .where("id", "in", revoked)
      .returning(["id", "replaced_by"])
      .execute();
    const created = await transaction.selectFrom("api_keys").select("id").where("created_by", "in", revoked).execute();
    const successors = replaced.filter(({ id }) => !(keepsSuccessor && id === keyId));
    revoked = [...created.map(({ id }) => id), ...successors.flatMap(({ replaced_by }) => replaced_by ?? [])];
  }
}

/** Whether the key is `creator`, or was created with it, or with a key that was. */
export async function isCreatedWith(
  transaction: DatabaseTransaction,
  keyId: string,
  creator: string,
): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    with recursive above (id, created_by) as (
      select id, created_by from api_keys where id = ${keyId}
      union select k.id, k.created_by from above a join api_keys k on k.id = a.created_by
    )
    select exists (select from above where id = ${creator}) as found`.execute(transaction);
  return rows[0]?.found ?? false;
}

/** Ends the key no later than `expiresAt`, and lets the successor take its place. Returns the key. */
export async function replaceApiKey(
  transaction: DatabaseTransaction,
  keyId: string,
  successor: string,
  expiresAt: Date,
): Promise<ShownKey> {
  await transaction.updateTable("api_keys").set({ created_by: successor }).where("created_by", "=", keyId).execute();
  return transaction
    .updateTable("api_keys")
    .set((columns) => ({
      replaced_by: successor,
      expires_at: columns.fn<Date>("least", ["expires_at", columns.val(expiresAt)]),
    }))
    .where("id", "=", keyId)
    .returning(visibleColumns)
    .executeTakeFirstOrThrow();
}

export interface ListedKey extends ShownKey {
  readonly company_id: string;
  readonly company_name: string;
  readonly user_email: string;
}

/** Lists the keys of all companies, newest first. */
export async function listAllKeys(database: Database): Promise<ListedKey[]> {
  const { rows } = await sql<ListedKey>`
    select k.id, k.name, k.user_id, k.scopes, k.expires_at, k.revoked_at, k.created_by, k.replaced_by, k.last_used_at,
      k.allowed_addresses, k.company_id, c.name as company_name,
      u.email as user_email
    from api_keys k join companies c on c.id = k.company_id join users u on u.id = k.user_id
    where k.kind = 'key'
    order by k.created_at desc, k.id`.execute(database);
  return rows;
}
