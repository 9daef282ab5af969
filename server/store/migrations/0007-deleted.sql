-- Backups outlive their sites and environments, which can be restored from them. See docs/decisions/deleting.md.
alter table backups drop constraint backups_site_id_fkey;
alter table backups drop constraint backups_environment_id_fkey;
-- One operation may back up every environment of a site.
alter table backups drop constraint backups_operation_id_key;
create unique index backups_operation on backups (operation_id, environment_id);
create index backups_site on backups (site_id);

-- Data for a restore under the same ids, in addition to the environment's newest backup.
create table deleted_sites (
  id uuid primary key,
  company_id uuid not null references companies on delete cascade,
  name text not null,
  display_name text not null,
  region text not null,
  created_at timestamptz not null,
  deleted_at timestamptz not null default now(),
  -- The user's name. Null if it was not a user.
  deleted_by text,
  restorable_until timestamptz not null
);
create index deleted_sites_company on deleted_sites (company_id, deleted_at desc);
create index deleted_sites_until on deleted_sites (restorable_until);

create table deleted_environments (
  id uuid primary key,
  site_id uuid not null,
  company_id uuid not null references companies on delete cascade,
  -- Whether it was deleted with its site and is restored with it.
  went_with_site boolean not null,
  name text not null,
  display_name text not null,
  is_premium boolean not null,
  php_version text not null,
  wordpress_version text,
  is_opt_out_from_automatic_php_update boolean not null,
  container_id uuid not null,
  created_at timestamptz not null,
  -- The id of its primary domain.
  domain_id uuid not null,
  host text not null,
  is_wildcard boolean not null,
  deleted_at timestamptz not null default now(),
  deleted_by text,
  restorable_until timestamptz not null
);
create index deleted_environments_site on deleted_environments (site_id);
create index deleted_environments_until on deleted_environments (restorable_until);
