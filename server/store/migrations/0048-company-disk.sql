create index packs_company on packs (company_id);
create index downloadable_backups_company on downloadable_backups (company_id);

-- What companies store: environments when they were last measured, backups, also of deleted sites, and downloadable backups.
-- An unfinished downloadable backup counts as much as its environment.
create view disk_of_companies as
  select company_id, sum(bytes)::bigint as bytes
  from (
    select company_id, disk_bytes as bytes from environments
    union all select company_id, bytes from packs where state <> 'lost'
    union all
    select d.company_id, coalesce(d.bytes, e.disk_bytes)
    from downloadable_backups d left join environments e on e.id = d.environment_id
  ) parts
  group by company_id;

create or replace view limits_of_companies as
  select c.id as company_id, l.sites, l.environments, l.disk_bytes, l.php_threads, l.php_memory_mb, l.api_keys,
    l.mail_recipients_per_hour, coalesce(u.bytes, 0) as disk_used_bytes
  from companies c
    cross join lateral (
      select * from company_limits where company_id = c.id or company_id is null order by company_id nulls last limit 1
    ) l
    left join disk_of_companies u on u.company_id = c.id;
