/** Who has, or had, a name and the names around it: the facts that decide whether a company can have the name. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";
import { isUnproven } from "./domains.ts";

/** A name that a company wants. */
export interface NewName {
  readonly name: string;
  readonly isWildcard: boolean;
  /** The registrable domain. */
  readonly registrable: string;
  /** The names whose wildcard covers it. */
  readonly above: readonly string[];
}

/** A domain that equals, covers or is covered by a new name. */
export interface Overlap {
  readonly id: string;
  readonly name: string;
  readonly companyId: string;
  readonly environmentId: string;
  readonly siteId: string;
  readonly siteName: string;
  readonly isTemporary: boolean;
  /** Whether it is not served, because its company must prove ownership first. */
  readonly isUnproven: boolean;
  /** Time since it was added. */
  readonly ageSeconds: number;
}

export interface NameClaim {
  readonly overlaps: readonly Overlap[];
  readonly hasOtherCompanies: boolean;
  /** Whether another company has, or had, a domain with the same registrable domain. */
  readonly isShared: boolean;
  /** Whether the name is held for another company that had it. */
  readonly isHeldByAnother: boolean;
  /** How the name is held for this company; null if it is not. */
  readonly ownHold: "name" | "wildcard" | null;
  /** Whether the nearest proven domain, of the name and those above it, is the company's. */
  readonly isBelowOwnProven: boolean;
  /** Whether the nearest domain above is the company's, and proven or pointing here. */
  readonly isBelowOwnDomain: boolean;
}

/** One statement, so that a domain that is removed at the same time is found either as a domain or as a held name. */
export async function findNameClaim(
  database: Database | DatabaseTransaction,
  companyId: string,
  { name, isWildcard, registrable, above }: NewName,
): Promise<NameClaim> {
  const isAround = (column: string) => isWithin(sql.ref(column), registrable);
  const within = above.filter((each) => each === registrable || each.endsWith(`.${registrable}`));
  const isOwn = sql`d.setup_type <> 'temporary'`;
  const { rows } = await sql<NameClaim>`
    select coalesce((
      select json_agg(json_build_object('id', d.id, 'name', d.name, 'companyId', d.company_id,
        'environmentId', d.environment_id, 'siteId', d.site_id, 'siteName', s.display_name,
        'isTemporary', d.setup_type = 'temporary', 'isUnproven', ${isUnproven},
        'ageSeconds', extract(epoch from now() - d.created_at)) order by d.name)
      from domains d join sites s on s.id = d.site_id
      where d.name = ${name} or (d.is_wildcard and d.name = any(${above}::text[]))
        or (${isWildcard}::boolean and reverse(d.name) like reverse(${`.${name}`}::text) || '%')), '[]') as overlaps,
    exists (select from companies where id <> ${companyId}) as "hasOtherCompanies",
    exists (select from domains d
        where d.company_id <> ${companyId} and ${isOwn} and not ${isUnproven} and ${isAround("d.name")})
      or exists (select from held_names h where h.company_id <> ${companyId} and ${isAround("h.name")}) as "isShared",
    exists (select from held_names h where h.name = ${name} and h.company_id <> ${companyId} and h.held_until > now())
      as "isHeldByAnother",
    (select case when h.is_wildcard then 'wildcard' else 'name' end from held_names h
      where h.name = ${name} and h.company_id = ${companyId} and h.held_until > now()) as "ownHold",
    coalesce((select d.company_id = ${companyId} from domains d
      where d.name = any(${[name, ...within]}::text[]) and ${isOwn} and d.verified_at is not null
      order by length(d.name) desc limit 1), false) as "isBelowOwnProven",
    coalesce((select d.company_id = ${companyId} and (d.verified_at is not null or d.points_here_at is not null)
      from domains d where d.name = any(${within}::text[]) and ${isOwn} and not ${isUnproven}
      order by length(d.name) desc limit 1), false) as "isBelowOwnDomain"`.execute(database);
  const [claim] = rows;
  if (claim === undefined) throw new Error("PostgreSQL returned no row");
  return claim;
}

/** SQL expression: whether the name is the registrable domain or below it. */
function isWithin(name: ReturnType<typeof sql.ref>, registrable: string) {
  return sql<boolean>`(${name} = ${registrable} or reverse(${name}) like reverse(${`.${registrable}`}::text) || '%')`;
}

/** Ends the time for which other companies hold the name. Call when this one has proven that it owns it. */
export async function endOtherHolds(
  transaction: DatabaseTransaction,
  { companyId, name }: { readonly companyId: string; readonly name: string },
): Promise<void> {
  await sql`
    update held_names set held_until = now()
    where name = ${name} and company_id <> ${companyId} and held_until > now()`.execute(transaction);
}
