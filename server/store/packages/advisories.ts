/** Known vulnerabilities, and installed packages that have one. */
import { sql } from "kysely";
import type { Pool } from "pg";
import type { Database, DatabaseTransaction, PackageKind } from "../database.ts";
import { lockPackageWrites, writeLocked } from "./packageWriteLock.ts";

export interface NewAdvisoryRange {
  readonly advisory_id: string;
  readonly kind: PackageKind;
  readonly slug: string;
  readonly from_key: string | null;
  readonly is_from_included: boolean;
  readonly to_key: string | null;
  readonly is_to_included: boolean;
  readonly affected: string;
  readonly patched: string | null;
  readonly title: string;
  readonly cve: string | null;
  readonly score: number | null;
  readonly reference: string | null;
}

interface AdvisoryFeed {
  readonly reading: number;
  readonly mark: string | null;
  readonly read_at: Date | null;
  readonly checked_at: Date | null;
  readonly records: number;
  readonly skipped: number;
  readonly problem: string | null;
}

const feedColumns = ["reading", "mark", "read_at", "checked_at", "records", "skipped", "problem"] as const;

const unreadFeed: AdvisoryFeed = {
  reading: 0,
  mark: null,
  read_at: null,
  checked_at: null,
  records: 0,
  skipped: 0,
  problem: null,
};

export async function advisoryFeed(database: Database): Promise<AdvisoryFeed> {
  return (await database.selectFrom("advisory_feed").select(feedColumns).executeTakeFirst()) ?? unreadFeed;
}

async function noteFeed(
  database: Database | DatabaseTransaction,
  facts: Partial<Pick<AdvisoryFeed, "reading" | "mark" | "records" | "skipped" | "problem">> & {
    readonly isRead: boolean;
  },
): Promise<void> {
  const { isRead, ...values } = facts;
  const now = sql<Date>`now()`;
  const row = { ...values, checked_at: now, ...(isRead && { read_at: now }) };
  await database
    .insertInto("advisory_feed")
    .values({ mark: null, problem: null, ...row })
    .onConflict((conflict) => conflict.column("only_one").doUpdateSet(row))
    .execute();
}

/** Adds ranges of a new reading. The current reading stays in force. */
export async function addAdvisoryRanges(
  database: Database,
  reading: number,
  ranges: readonly NewAdvisoryRange[],
): Promise<void> {
  if (ranges.length === 0) return;
  await sql`
    insert into advisory_ranges (reading, advisory_id, kind, slug, from_key, is_from_included, to_key, is_to_included,
      affected, patched, title, cve, score, reference)
    select ${reading}, n.* from jsonb_to_recordset(${JSON.stringify(ranges)}::jsonb) as n(
      advisory_id text, kind text, slug text, from_key text, is_from_included boolean, to_key text,
      is_to_included boolean, affected text, patched text, title text, cve text, score double precision,
      reference text)`.execute(database);
}

/** Removes what unfinished readings have left. */
export async function forgetOtherReadings(database: Database): Promise<void> {
  await sql`delete from advisory_ranges where not exists (
    select from advisory_feed f where f.reading = advisory_ranges.reading)`.execute(database);
}

/** Puts a complete reading in force and marks installed and offered versions accordingly. */
export async function activateReading(
  database: Database,
  feed: Pick<AdvisoryFeed, "reading" | "mark" | "records" | "skipped">,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await lockPackageWrites(transaction);
    await noteFeed(transaction, { ...feed, problem: null, isRead: true });
    await sql`delete from advisory_ranges where reading <> ${feed.reading}`.execute(transaction);
    await markOffersVulnerable(transaction);
    await markVulnerable(transaction, null);
  });
}

/** Records a check of the feed that found no change (null) or failed. */
export async function noteChecked(database: Database, problem: string | null): Promise<void> {
  await noteFeed(database, { problem, isRead: false });
}

/** SQL expression: whether the version with this key is vulnerable; false if the key is null. */
const isVulnerable = (slug: string, kind: string, key: string) => `exists (
  select from advisory_ranges r, advisory_feed f where r.reading = f.reading and r.kind = ${kind} and r.slug = lower(${slug})
    and (r.from_key is null or ${key} > r.from_key or (r.is_from_included and ${key} = r.from_key))
    and (r.to_key is null or ${key} < r.to_key or (r.is_to_included and ${key} = r.to_key)))`;

/**
 * Marks installed versions and available updates as vulnerable or not. `environmentIds` is null for all environments.
 */
export async function markVulnerable(
  database: Database | DatabaseTransaction,
  environmentIds: readonly string[] | null,
): Promise<void> {
  const ids = environmentIds === null ? null : [...environmentIds];
  const offered = isVulnerable("coalesce(o.slug, v.name)", "v.kind", "o.version_key");
  await writeLocked(
    database,
    sql`
    with versions as (
      select distinct p.kind, p.name, p.file, p.version_key from packages p
      where ${ids}::uuid[] is null or p.environment_id = any(${ids}::uuid[])
    ), checked as (
      select v.kind, v.name, v.file, v.version_key,
        ${sql.raw(isVulnerable("coalesce(o.slug, v.name)", "v.kind", "v.version_key"))} as is_vulnerable,
        o.version is not null and ${sql.raw(offered)} as is_offer_vulnerable
      from versions v left join package_offers o on o.kind = v.kind and o.file = v.file
    )
    update packages p set is_vulnerable = c.is_vulnerable,
      vulnerable_since = case when c.is_vulnerable then coalesce(p.vulnerable_since, now()) end,
      is_update_vulnerable = p.update_version is not null and c.is_offer_vulnerable
    from checked c
    where (p.kind, p.name, p.file, p.version_key) = (c.kind, c.name, c.file, c.version_key)
      and (${ids}::uuid[] is null or p.environment_id = any(${ids}::uuid[]))
      and (p.is_vulnerable, p.is_update_vulnerable)
        is distinct from (c.is_vulnerable, p.update_version is not null and c.is_offer_vulnerable)`,
  );
}

/** Marks the versions that the package source offers as vulnerable or not. */
export async function markOffersVulnerable(database: Database | DatabaseTransaction): Promise<void> {
  await sql`
    update package_offers o set is_vulnerable = n.is_vulnerable from (
      select kind, file, version is not null and ${sql.raw(isVulnerable("slug", "kind", "version_key"))} as is_vulnerable
      from package_offers v) n
    where (o.kind, o.file) = (n.kind, n.file) and o.is_vulnerable <> n.is_vulnerable`.execute(database);
}

/** A vulnerability of a package, with the environments that have it. */
interface FoundVulnerability {
  readonly advisory_id: string;
  readonly title: string;
  readonly cve: string | null;
  readonly score: number | null;
  readonly reference: string | null;
  readonly kind: PackageKind;
  readonly name: string;
  readonly affected: string;
  readonly patched: string | null;
  readonly environments: readonly {
    readonly id: string;
    readonly site_id: string;
    readonly site_display_name: string;
    readonly display_name: string;
    readonly version: string;
    readonly update_version: string | null;
  }[];
}

interface FoundVulnerabilities {
  readonly total: number;
  readonly items: readonly FoundVulnerability[];
}

/** Lists vulnerabilities of installed packages, worst first. */
export async function listVulnerabilities(
  pool: Pool,
  query: {
    readonly companyId: string;
    readonly siteIds: readonly string[] | null;
    readonly limit: number;
    readonly offset: number;
  },
): Promise<FoundVulnerabilities> {
  const { rows } = await pool.query<FoundVulnerabilities>({
    name: "list-vulnerabilities",
    text: `
      with vulnerable as (
        select p.*, lower(coalesce(o.slug, p.name)) as slug from packages p
          left join package_offers o on o.kind = p.kind and o.file = p.file
        where p.company_id = $1 and ($2::uuid[] is null or p.site_id = any($2)) and p.is_vulnerable
      ), found as (
        select r.advisory_id, min(r.title) as title, min(r.cve) as cve, max(r.score) as score,
          min(r.reference) as reference, m.kind, m.name, min(r.affected) as affected, min(r.patched) as patched,
          json_agg(json_build_object('id', e.id, 'site_id', s.id, 'site_display_name', s.display_name,
            'display_name', e.display_name, 'version', m.version, 'update_version', m.update_version) order by s.created_at, s.id, e.number) as environments
        from vulnerable m join advisory_feed f on true
          join advisory_ranges r on r.reading = f.reading and r.kind = m.kind and r.slug = m.slug
            and (r.from_key is null or m.version_key > r.from_key or (r.is_from_included and m.version_key = r.from_key))
            and (r.to_key is null or m.version_key < r.to_key or (r.is_to_included and m.version_key = r.to_key))
          join environments e on e.id = m.environment_id join sites s on s.id = m.site_id
        group by r.advisory_id, m.kind, m.name
      )
      select (select count(*)::int from found) as total,
        (select coalesce(json_agg(f), '[]') from (
          select * from found order by score desc nulls last, advisory_id, kind, name limit $3 offset $4) f) as items`,
    values: [query.companyId, query.siteIds, query.limit, query.offset],
  });
  return rows[0] ?? { total: 0, items: [] };
}
