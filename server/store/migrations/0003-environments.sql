create unique index environments_display_name on environments (site_id, lower(display_name));

-- While it is true the edge refuses what would be written to the environment: it is about to be replaced.
alter table environments add column is_frozen boolean not null default false;
-- Another number, and the edge replaces the environment's PHP processes.
alter table environments add column php_run integer not null default 0;

create table backups (
  id integer generated always as identity primary key,
  company_id uuid not null references companies on delete cascade,
  site_id uuid not null references sites on delete cascade,
  environment_id uuid not null references environments on delete cascade,
  name text not null,
  note text,
  type text not null check (type in ('manual', 'scheduled', 'system-generated')),
  -- Which operation makes it: one that is taken up again after a crash must find its own.
  operation_id text not null unique,
  -- Where the archive store has it; null until it is there.
  archive text,
  bytes bigint,
  created_at timestamptz not null default now()
);
create index backups_environment on backups (environment_id, id desc) where archive is not null;
