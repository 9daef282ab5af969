-- The limits of companies, which only the operator sets. The row without a company applies to all companies that have no row
-- of their own. Null: no limit.
create table company_limits (
  company_id uuid unique references companies on delete cascade,
  sites integer check (sites >= 0),
  environments integer check (environments >= 0),
  disk_bytes bigint check (disk_bytes >= 0),
  php_threads integer check (php_threads >= 1),
  php_memory_mb integer check (php_memory_mb >= 64),
  api_keys integer check (api_keys >= 1),
  mail_recipients_per_hour integer check (mail_recipients_per_hour >= 0)
);
create unique index company_limits_default on company_limits ((true)) where company_id is null;

create index environments_company on environments (company_id);

-- The limits in force, and the size of all environments when they were last measured. Companies without any limits have no row.
create view limits_of_companies as
  select c.id as company_id, l.sites, l.environments, l.disk_bytes, l.php_threads, l.php_memory_mb, l.api_keys,
    l.mail_recipients_per_hour, coalesce(u.bytes, 0) as disk_used_bytes
  from companies c
    cross join lateral (
      select * from company_limits where company_id = c.id or company_id is null order by company_id nulls last limit 1
    ) l
    left join (select company_id, sum(disk_bytes)::bigint as bytes from environments group by company_id) u
      on u.company_id = c.id;
