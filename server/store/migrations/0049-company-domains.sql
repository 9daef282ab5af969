-- Maximum number of domains that a company adds to its environments. Null: no limit.
alter table company_limits add column domains integer check (domains >= 0);
update company_limits set domains = 1000;

create or replace view limits_of_companies as
  select c.id as company_id, l.sites, l.environments, l.disk_bytes, l.php_threads, l.php_memory_mb, l.api_keys,
    l.mail_recipients_per_hour, coalesce(u.bytes, 0) as disk_used_bytes, l.domains
  from companies c
    cross join lateral (
      select * from company_limits where company_id = c.id or company_id is null order by company_id nulls last limit 1
    ) l
    left join disk_of_companies u on u.company_id = c.id;
