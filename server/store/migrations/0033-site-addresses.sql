-- The part of all sites' addresses that comes from the settings, as WordPress in each site last received it. At startup
-- it is compared with the settings. No row: no installation that records it has started yet.
create table site_addresses (
  is_only boolean primary key default true check (is_only),
  suffix text not null,
  http_port integer not null,
  https_port integer not null
);
