-- After a restore of the installation on another machine, environments are rebuilt from their backups.
alter table environments drop constraint environments_state_check;
-- Only 'serving' environments are published to the edge. For 'restoring' ones it shows a page that says so.
alter table environments add constraint environments_state_check
  check (state in ('adding', 'serving', 'restoring', 'deleting'));
-- It has no files on this machine yet. Kept through a deletion and a restore.
alter table environments add column awaits_rebuild boolean not null default false;
create index environments_awaiting on environments (number) where awaits_rebuild;

-- Each restore of this database from a backup of the installation.
create table restores (
  id uuid primary key,
  -- When the backup was made.
  made_at timestamptz not null,
  restored_at timestamptz not null default now()
);
