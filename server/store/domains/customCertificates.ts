/** The certificate of a domain, and replacement and removal of customers' own certificates. */
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

/**
 * Finds the certificate that is or would be presented for the domain; without a valid one, an invalid one. Null if
 * there is none.
 */
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

/**
 * Removes all custom certificates for the domain, even if they are for other domains too. Returns whether there were
 * any.
 */
export async function removeCustom(transaction: DatabaseTransaction, domainId: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from certificates c using domains d
    where d.id = ${domainId} and c.environment_id = d.environment_id and c.source = 'custom' and ${isFor("c", "d")}
  `.execute(transaction);
  return Number(numAffectedRows ?? 0) > 0;
}

/**
 * Removes custom certificates of the domain that the certificate `by` replaces. Certificates that other domains of the
 * environment still need stay, without this domain's name.
 */
export async function withdrawReplaced(transaction: DatabaseTransaction, domainId: string, by: string): Promise<void> {
  const isReplaced = sql`d.id = ${domainId} and n.id = ${by} and c.id <> n.id and c.source = 'custom'
    and c.environment_id = d.environment_id and ${isFor("c", "d")}`;
  await sql`
    delete from certificates c using domains d, certificates n
    where ${isReplaced} and not exists (
      select from domains o
      where o.environment_id = d.environment_id and o.id <> d.id and ${isFor("c", "o")} and not ${isFor("n", "o")})
  `.execute(transaction);
  await sql`
    update certificates c set names = array_remove(c.names, d.name) from domains d, certificates n
    where ${isReplaced}`.execute(transaction);
}
