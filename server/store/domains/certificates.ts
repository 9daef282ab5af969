/** Certificates and their sealed keys. */
import { type RawBuilder, sql } from "kysely";
import type { Certificates, Database, DatabaseTransaction } from "../database.ts";

export interface NewCertificate {
  readonly id: string;
  readonly companyId: string;
  readonly environmentId: string;
  readonly source: Certificates["source"];
  readonly certificate: {
    readonly names: readonly string[];
    readonly chain: string;
    readonly notBefore: Date;
    readonly notAfter: Date;
    readonly fingerprint: string;
  };
  /** Sealed for `certificate:<id>`. */
  readonly keySealed: Buffer;
}

/** Once, however often it is called with the same id. */
export async function addCertificate(
  transaction: DatabaseTransaction,
  { id, companyId, environmentId, source, certificate, keySealed }: NewCertificate,
): Promise<void> {
  await transaction
    .insertInto("certificates")
    .values({
      id,
      company_id: companyId,
      environment_id: environmentId,
      source,
      names: [...certificate.names],
      chain: certificate.chain,
      key_sealed: keySealed,
      not_before: certificate.notBefore,
      not_after: certificate.notAfter,
      fingerprint: certificate.fingerprint,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

/** A certificate that may be shown to visitors. */
export interface ShownCertificate {
  readonly id: string;
  readonly names: readonly string[];
  readonly notAfter: Date;
}

/** SQL expression: the certificate in the first alias is for the name in the second's column `name`, maybe by a wildcard. */
export function isForName(certificate: string, domain: string): RawBuilder<boolean> {
  const names = sql.ref(`${certificate}.names`);
  const name = sql.ref(`${domain}.name`);
  return sql<boolean>`${names} && array[${name}, regexp_replace(${name}, '^[^.]+', '*')]`;
}

/** SQL expression: the same, or, where that domain is a wildcard, for names below it. */
export function isFor(certificate: string, domain: string): RawBuilder<boolean> {
  const names = sql.ref(`${certificate}.names`);
  const name = sql.ref(`${domain}.name`);
  const isWildcard = sql.ref(`${domain}.is_wildcard`);
  return sql<boolean>`(${isForName(certificate, domain)} or ${isWildcard} and exists (select from unnest(${names}) n where n like '%.' || ${name}))`;
}

/**
 * SQL: of several for the same name, the one to show first. A customer's own come before those that were ordered: of them
 * the one that was given last, of the others the one that is valid longest.
 */
export const shownFirst = sql`c.source desc, case when c.source = 'custom' then c.created_at end desc nulls last,
  c.not_after desc, c.created_at desc, c.id`;

/** Those that a served name has a use for, and that are not over, in the order in which they are to be shown. */
export async function listCertificates(database: Database): Promise<ShownCertificate[]> {
  return database
    .selectFrom("certificates as c")
    .select(["c.id", "c.names", "c.not_after as notAfter"])
    .where("c.not_after", ">", sql<Date>`now()`)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("domains as d")
          .select("d.id")
          .whereRef("d.environment_id", "=", "c.environment_id")
          .where("d.is_active", "=", true)
          .where(isFor("c", "d")),
      ),
    )
    .orderBy(shownFirst)
    .execute();
}

/** What the edge needs of one besides. Null if it is gone. */
export async function findSecrets(
  database: Database,
  id: string,
): Promise<{ readonly chain: string; readonly keySealed: Buffer } | null> {
  const row = await database
    .selectFrom("certificates")
    .select(["chain", "key_sealed as keySealed"])
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

/** Of all that are kept. */
export async function listCertificateIds(database: Database): Promise<readonly string[]> {
  const rows = await database.selectFrom("certificates").select("id").execute();
  return rows.map(({ id }) => id);
}

/**
 * Removes what is shown no more: what was over a month ago, and what was ordered and has been followed by another for the
 * same names for an hour, in which the edge has learnt of that one. Returns their number.
 */
export async function removeOldCertificates(database: Database, now: Date): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from certificates c
    where c.not_after < ${now}::timestamptz - interval '30 days'
      or (c.source = 'acme' and exists (
        select from certificates n
        where n.environment_id = c.environment_id and n.source = 'acme' and n.names @> c.names
          and n.created_at > c.created_at and n.created_at < now() - interval '1 hour'))`.execute(database);
  return Number(numAffectedRows ?? 0);
}
