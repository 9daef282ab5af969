-- Plugins and themes of environments when they were last read. Company and site are repeated here because lists of a
-- company read thousands of these rows and nothing else.
create table packages (
  environment_id uuid not null references environments on delete cascade,
  company_id uuid not null references companies,
  site_id uuid not null references sites on delete cascade,
  kind text not null check (kind in ('plugin', 'theme')),
  name text not null,
  -- WordPress's name for it: akismet/akismet.php.
  file text not null,
  title text not null,
  description text not null,
  version text not null,
  -- Sorts like the version: server/packages/versions.ts.
  version_key text collate "C" not null,
  -- Whether its updates come from a source other than WordPress.org.
  is_elsewhere boolean not null,
  is_active boolean not null,
  -- Whether WordPress updates it automatically.
  is_auto_updated boolean not null,
  -- The newest version that this environment can install. Null if it has that one.
  update_version text,
  update_status text check (update_status in ('updated', 'updating', 'failed')),
  is_vulnerable boolean not null default false,
  is_update_vulnerable boolean not null default false,
  primary key (environment_id, kind, name)
);
-- Includes the columns that lists filter and count by, so that they need not read the rows.
create index packages_of_company on packages (company_id, kind, name)
  include (site_id, update_version, is_active, is_vulnerable);
create index packages_by_file on packages (kind, file);

alter table environments
  add column packages_read_at timestamptz,
  -- The packages that could not be read, as a sentence.
  add column packages_problem text;

-- The newest version of each package in the package source.
create table package_offers (
  kind text not null check (kind in ('plugin', 'theme')),
  file text not null,
  -- The source's name for it. This and the version are null if the source does not have it.
  slug text,
  version text,
  version_key text collate "C",
  -- Minimum versions of PHP and WordPress. Null: any.
  php_key text collate "C",
  wordpress_key text collate "C",
  is_vulnerable boolean not null default false,
  checked_at timestamptz not null default now(),
  primary key (kind, file)
);
