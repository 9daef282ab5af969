-- The part of all sites' addresses that comes from the settings, as WordPress in each site was last told to use it.
-- At startup it is compared with the settings. No row: no installation that remembers it has started yet.
create table site_addresses (
  is_only boolean primary key default true check (is_only),
  suffix text not null,
  http_port integer not null,
  https_port integer not null
);
