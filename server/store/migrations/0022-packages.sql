-- Plugins and themes of environments, as they were when they were last read. Company and site stand here too: lists of a
-- company read thousands of these rows and nothing else.
create table packages (
  environment_id uuid not null references environments on delete cascade,
  company_id uuid not null references companies,
  site_id uuid not null references sites on delete cascade,
  kind text not null check (kind in ('plugin', 'theme')),
  name text not null,
  -- How WordPress names it: akismet/akismet.php.
  file text not null,
  title text not null,
  description text not null,
  version text not null,
  -- Versions in their order: server/packages/versions.ts.
  version_key text collate "C" not null,
  -- Its updates are not at WordPress.org.
  is_elsewhere boolean not null,
  is_active boolean not null,
  -- By WordPress itself.
  is_auto_updated boolean not null,
  -- What it can be updated to; null: it is the newest that this environment can have.
  update_version text,
  update_status text check (update_status in ('updated', 'updating', 'failed')),
  is_vulnerable boolean not null default false,
  is_update_vulnerable boolean not null default false,
  primary key (environment_id, kind, name)
);
-- With what lists are filtered and counted by, so that they need not read the rows themselves.
create index packages_of_company on packages (company_id, kind, name)
  include (site_id, update_version, is_active, is_vulnerable);
create index packages_by_file on packages (kind, file);

alter table environments
  add column packages_read_at timestamptz,
  -- What could not be read of them then.
  add column packages_problem text;

-- The newest version of each that the package source has.
create table package_offers (
  kind text not null check (kind in ('plugin', 'theme')),
  file text not null,
  -- As the source calls it. Null: the source does not know it. The same with its version.
  slug text,
  version text,
  version_key text collate "C",
  -- The least versions that it runs with; null: any.
  php_key text collate "C",
  wordpress_key text collate "C",
  is_vulnerable boolean not null default false,
  checked_at timestamptz not null default now(),
  primary key (kind, file)
);
