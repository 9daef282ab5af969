create unique index environments_display_name on environments (site_id, lower(display_name));

-- While true, the edge rejects writes to the environment, which is about to be replaced.
alter table environments add column is_frozen boolean not null default false;
-- When it changes, the edge replaces the environment's PHP processes.
alter table environments add column php_run integer not null default 0;

create table backups (
  id integer generated always as identity primary key,
  company_id uuid not null references companies on delete cascade,
  site_id uuid not null references sites on delete cascade,
  environment_id uuid not null references environments on delete cascade,
  name text not null,
  note text,
  type text not null check (type in ('manual', 'scheduled', 'system-generated')),
  -- The operation that makes it. When it continues after a crash, it must find its own backup.
  operation_id text not null unique,
  -- Its location in the archive store. Null until it is stored.
  archive text,
  bytes bigint,
  created_at timestamptz not null default now()
);
create index backups_environment on backups (environment_id, id desc) where archive is not null;
