/** Inserts many sites at once, for tests and benchmarks of lists. */
import type { ClientBase, Pool } from "pg";

interface ManySites {
  readonly companyId: string;
  readonly count: number;
  /** Default: `Site 1` and so on. */
  readonly displayName?: string;
  /** Also of the environments. Default: served. Those that are being deleted are listed, but nothing else is done with them. */
  readonly state?: "deleting";
}

/** Each site has two environments, and these together three domains. Names are unique to the call. Older ones come first. */
export async function addManySites(
  client: ClientBase | Pool,
  { companyId, count, displayName = "Site", state }: ManySites,
): Promise<void> {
  const { rows } = await client.query<{ prefix: string }>("select substr(gen_random_uuid()::text, 1, 8) as prefix");
  const prefix = rows[0]?.prefix ?? "";
  await client.query(
    `insert into sites (id, company_id, name, display_name, region, state, created_at)
       select gen_random_uuid(), $1, $2 || '-' || n, $4 || ' ' || $2 || ' ' || n, 'europe-west3', $5,
         now() - make_interval(secs => $3 - n) from generate_series(1, $3::integer) n`,
    [companyId, prefix, count, displayName, state ?? "live"],
  );
  await client.query(
    `insert into environments (id, site_id, company_id, name, display_name, php_version, wordpress_version, state, container_id)
       select gen_random_uuid(), s.id, s.company_id, e.name, initcap(e.name), '8.3', '6.9', $2, gen_random_uuid()
       from sites s cross join (values ('live'), ('staging')) e (name) where s.name like $1 || '-%'`,
    [prefix, state ?? "serving"],
  );
  await client.query(
    `insert into domains (id, environment_id, site_id, company_id, name, is_primary, setup_type)
       select gen_random_uuid(), e.id, s.id, s.company_id, d.name, d.setup_type = 'temporary', d.setup_type
       from environments e join sites s on s.id = e.site_id
         cross join lateral (values (e.name || '-' || s.name || '.localhost', 'temporary'),
           ('www.' || s.name || '.example', 'quick')) d (name, setup_type)
       where s.name like $1 || '-%' and (e.name = 'live' or d.setup_type = 'temporary')`,
    [prefix],
  );
}
