-- An installation may have been restored on another machine: its environments are made anew of their backups there.
alter table environments drop constraint environments_state_check;
-- Only 'serving' environments are published to the edge; of 'restoring' ones it learns that they will be.
alter table environments add constraint environments_state_check
  check (state in ('adding', 'serving', 'restoring', 'deleting'));
-- Nothing of it is on this machine's disk yet. It outlasts a deletion that is taken back.
alter table environments add column awaits_rebuild boolean not null default false;
create index environments_awaiting on environments (number) where awaits_rebuild;

-- Each time that this database was restored from a backup of the installation.
create table restores (
  id uuid primary key,
  -- When that backup was made.
  made_at timestamptz not null,
  restored_at timestamptz not null default now()
);
