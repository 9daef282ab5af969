-- Zips of environments behind links that expire. docs/decisions/downloads.md says more.
create table downloadable_backups (
  id uuid primary key,
  company_id uuid not null references companies on delete cascade,
  site_id uuid not null references sites on delete cascade,
  environment_id uuid not null references environments on delete cascade,
  -- How the link ends.
  file_name text not null,
  -- How long the zip is; null until it is there.
  bytes bigint,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index downloadable_backups_environment on downloadable_backups (environment_id, created_at desc);
create index downloadable_backups_expires on downloadable_backups (expires_at);
