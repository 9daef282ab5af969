/** The customers' own certificates: shown for a domain, replaced and removed. */
import { sql } from "kysely";
import type { Certificates, Database, DatabaseTransaction } from "../database.ts";
import { isFor, isForName, shownFirst } from "./certificates.ts";

export interface DomainCertificate {
  readonly source: Certificates["source"];
  /** PEM. */
  readonly chain: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly fingerprint: string;
  /** Whether the edge presents it for this domain. */
  readonly isServed: boolean;
}

/** The one that visitors of the domain are shown, or would be; where none is valid, the last that was. Null: none at all. */
export async function findDomainCertificate(
  database: Database | DatabaseTransaction,
  domainId: string,
  now: Date,
): Promise<DomainCertificate | null> {
  const isValid = sql`(c.not_before <= ${now}::timestamptz and c.not_after > ${now}::timestamptz)`;
  const { rows } = await sql<DomainCertificate>`
    select c.source, c.chain, c.not_before as "notBefore", c.not_after as "notAfter", c.fingerprint,
      (d.is_active and e.state = 'serving' and ${isValid}) as "isServed"
    from domains d join environments e on e.id = d.environment_id join certificates c on c.environment_id = d.environment_id
    where d.id = ${domainId} and ${isForName("c", "d")}
    order by ${isValid} desc, d.name = any(c.names) desc, ${shownFirst} limit 1`.execute(database);
  return rows[0] ?? null;
}

/** Locks the domain and its certificates until the transaction ends. False if the domain is gone. */
export async function lockDomain(transaction: DatabaseTransaction, domainId: string): Promise<boolean> {
  const { rows } = await sql`select from domains where id = ${domainId} for no key update`.execute(transaction);
  return rows.length > 0;
}

/** Removes the customer's own certificates for the domain, also where they are for others besides. Returns whether there were any. */
export async function removeCustom(transaction: DatabaseTransaction, domainId: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from certificates c using domains d
    where d.id = ${domainId} and c.environment_id = d.environment_id and c.source = 'custom' and ${isFor("c", "d")}
  `.execute(transaction);
  return Number(numAffectedRows ?? 0) > 0;
}

/**
 * Takes those from the domain that came before the one with the id `by`. What other domains of the environment need, and the
 * new one is not for, stays for those.
 */
export async function withdrawReplaced(transaction: DatabaseTransaction, domainId: string, by: string): Promise<void> {
  const before = sql`d.id = ${domainId} and n.id = ${by} and c.id <> n.id and c.source = 'custom'
    and c.environment_id = d.environment_id and ${isFor("c", "d")}`;
  await sql`
    delete from certificates c using domains d, certificates n
    where ${before} and not exists (
      select from domains o
      where o.environment_id = d.environment_id and o.id <> d.id and ${isFor("c", "o")} and not ${isFor("n", "o")})
  `.execute(transaction);
  await sql`
    update certificates c set names = array_remove(c.names, d.name) from domains d, certificates n
    where ${before}`.execute(transaction);
}
