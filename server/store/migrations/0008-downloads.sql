-- Zips of environments for download at links that expire. See docs/decisions/downloads.md.
create table downloadable_backups (
  id uuid primary key,
  company_id uuid not null references companies on delete cascade,
  site_id uuid not null references sites on delete cascade,
  environment_id uuid not null references environments on delete cascade,
  -- The last part of the link.
  file_name text not null,
  -- Size of the zip. Null until it is complete.
  bytes bigint,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index downloadable_backups_environment on downloadable_backups (environment_id, created_at desc);
create index downloadable_backups_expires on downloadable_backups (expires_at);
