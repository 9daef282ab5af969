/** Values in the database that are sealed with a key outside it, so that they can be sealed again with a new key. */
import { type RawBuilder, sql } from "kysely";
import type { Database, DatabaseTransaction } from "./database.ts";

export interface SealedValue {
  readonly id: string;
  readonly sealed: Buffer;
  /** What the value is bound to. */
  readonly context: string;
}

/** A column with sealed values. */
interface SealedColumn {
  readonly name: string;
  readonly table: string;
  readonly id: RawBuilder<string>;
  /** The value as bytes; null: none. */
  readonly value: RawBuilder<Buffer | null>;
  readonly context: RawBuilder<string>;
  /** The assignment of a new value. */
  readonly assignment: (sealed: Buffer) => RawBuilder<unknown>;
}

const keySealed = {
  value: sql<Buffer>`key_sealed`,
  assignment: (sealed: Buffer) => sql`key_sealed = ${sealed}`,
};

/** All of them. A test fails if a value of a used installation is in none. */
export const sealedColumns: readonly SealedColumn[] = [
  {
    name: "keys of certificates",
    table: "certificates",
    id: sql`id::text`,
    context: sql`'certificate:' || id`,
    ...keySealed,
  },
  {
    name: "keys of ordered certificates",
    table: "certificate_orders",
    id: sql`domain_id::text`,
    context: sql`'certificate:' || certificate_id`,
    ...keySealed,
  },
  {
    name: "keys at certificate authorities",
    table: "acme_accounts",
    id: sql`directory`,
    context: sql`'acme-account:' || directory`,
    ...keySealed,
  },
  {
    name: "secrets of second factors",
    table: "users",
    id: sql`id::text`,
    value: sql<Buffer>`second_factor_sealed`,
    context: sql`'second-factor:' || id`,
    assignment: (sealed) => sql`second_factor_sealed = ${sealed}`,
  },
  {
    name: "secrets of operations",
    table: "operations",
    id: sql`id`,
    value: sql<Buffer>`secret`,
    context: sql`id`,
    assignment: (sealed) => sql`secret = ${sealed}`,
  },
  {
    name: "results of operations",
    table: "operations",
    id: sql`id`,
    value: sql<Buffer>`decode(result->>'sealed', 'base64')`,
    context: sql`id`,
    assignment: (sealed) => sql`result = jsonb_set(result, '{sealed}', to_jsonb(${sealed.toString("base64")}::text))`,
  },
];

/** Returns values that don't begin with `prefix`, in the order of their ids, from the first one after `after`. */
export async function listSealedOtherwise(
  database: Database,
  { table, id, value, context }: SealedColumn,
  { prefix, after, limit }: { readonly prefix: Buffer; readonly after: string; readonly limit: number },
): Promise<readonly SealedValue[]> {
  const { rows } = await sql<SealedValue>`
    select ${id} as id, ${value} as sealed, ${context} as context from ${sql.table(table)}
    where substring(${value} from 1 for ${sql.lit(prefix.length)}) <> ${prefix} and ${id} > ${after}
    order by 1 limit ${limit}`.execute(database);
  return rows;
}

/** Replaces a value, unless it has changed since it was read. */
export async function replaceSealed(
  database: Database,
  { table, id, value, assignment }: SealedColumn,
  old: SealedValue,
  sealed: Buffer,
): Promise<void> {
  await sql`update ${sql.table(table)} set ${assignment(sealed)} where ${id} = ${old.id} and ${value} = ${old.sealed}`.execute(
    database,
  );
}

/** The key of an advisory lock that has no other use. */
export const rotationLock = 4_711_029;

/** Waits until no other process rotates keys, and then keeps others from it until the transaction ends. */
export async function lockRotation(transaction: DatabaseTransaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(rotationLock)})`.execute(transaction);
}

/** Whether a download link that was made before `before` is still valid. */
export async function hasDownloadBefore(database: Database, before: Date): Promise<boolean> {
  const found = await database
    .selectFrom("downloadable_backups")
    .select("id")
    .where("created_at", "<", before)
    .where("expires_at", ">", new Date())
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
