/** Which certificates the domains of an environment have. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";
import { isFor, isForName } from "./certificates.ts";

/** SQL expression: whether the environment `e` has a valid certificate for the name of its domain `d`. */
export const isCovered = sql<boolean>`exists (
  select from certificates c
  where c.environment_id = e.id and c.not_before <= now() and c.not_after > now()
    and ${isForName("c", "d")})`;

/** SQL expression: whether it has a valid certificate for names one label below its domain `d`. */
export const isWildcardCovered = sql<boolean>`exists (
  select from certificates c
  where c.environment_id = e.id and c.not_before <= now() and c.not_after > now() and '*.' || d.name = any(c.names))`;

/** Whether the environment has a valid certificate for the name. */
export async function hasCertificateFor(
  database: Database | DatabaseTransaction,
  environmentId: string,
  name: string,
  now: Date,
): Promise<boolean> {
  const wildcard = name.replace(/^[^.]+/, "*");
  const { rows } = await sql`
    select from certificates
    where environment_id = ${environmentId} and names && array[${name}, ${wildcard}]::text[]
      and not_before <= ${now} and not_after > ${now}
    limit 1`.execute(database);
  return rows.length > 0;
}

/** Removes a certificate if it exists. */
export async function removeCertificate(transaction: DatabaseTransaction, id: string): Promise<void> {
  await transaction.deleteFrom("certificates").where("id", "=", id).execute();
}

/** Removes the environment's certificates that cover none of its domains. */
export async function removeUselessCertificates(
  transaction: DatabaseTransaction,
  environmentId: string,
): Promise<void> {
  await sql`
    delete from certificates c
    where c.environment_id = ${environmentId}
      and not exists (select from domains d where d.environment_id = c.environment_id and ${isFor("c", "d")})
  `.execute(transaction);
}
