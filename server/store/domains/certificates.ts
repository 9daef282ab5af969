/** Certificates and their sealed keys. */
import { type RawBuilder, sql } from "kysely";
import type { Certificates, Database, DatabaseTransaction } from "../database.ts";

interface NewCertificate {
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

/** Adds a certificate. Idempotent by id. */
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

/** A certificate that may be presented to visitors of its environment. */
export interface PresentedCertificate {
  readonly id: string;
  readonly environmentId: string;
  readonly names: readonly string[];
  readonly notAfter: Date;
}

/** SQL expression: whether the certificate (an alias) covers the domain's name, also by a wildcard. */
export function isForName(certificate: string, domain: string): RawBuilder<boolean> {
  const names = sql.ref(`${certificate}.names`);
  const name = sql.ref(`${domain}.name`);
  return sql<boolean>`${names} && array[${name}, regexp_replace(${name}, '^[^.]+', '*')]`;
}

/** SQL expression: like `isForName`, or whether it covers names below a wildcard domain. */
export function isFor(certificate: string, domain: string): RawBuilder<boolean> {
  const names = sql.ref(`${certificate}.names`);
  const name = sql.ref(`${domain}.name`);
  const isWildcard = sql.ref(`${domain}.is_wildcard`);
  return sql<boolean>`(${isForName(certificate, domain)} or ${isWildcard} and exists (select from unnest(${names}) n where n like '%.' || ${name}))`;
}

/**
 * SQL order of certificates for the same name; the first is presented. Customers' own certificates come first, newest
 * first, then ordered ones, by latest expiry.
 */
export const shownFirst = sql`c.source desc, case when c.source = 'custom' then c.created_at end desc nulls last,
  c.not_after desc, c.created_at desc, c.id`;

/** Lists unexpired certificates for served names, in order of preference. */
export async function listCertificates(database: Database): Promise<PresentedCertificate[]> {
  return database
    .selectFrom("certificates as c")
    .select(["c.id", "c.environment_id as environmentId", "c.names", "c.not_after as notAfter"])
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

/** Returns the chain and the sealed key of a certificate, or null if it is gone. */
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

/** Returns the ids of all certificates. */
export async function listCertificateIds(database: Database): Promise<readonly string[]> {
  const rows = await database.selectFrom("certificates").select("id").execute();
  return rows.map(({ id }) => id);
}

/**
 * Removes certificates that expired 30 days ago, and ordered ones that were replaced an hour ago, after which the edge
 * uses the new one. Returns their number.
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
