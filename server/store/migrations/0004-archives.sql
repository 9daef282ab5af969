-- Backups consist of pieces of files, which are stored in packs. See docs/decisions/backups.md.
create table packs (
  id uuid primary key,
  company_id uuid not null references companies,
  -- writing: no backup uses it yet. lost: missing or damaged; new backups must not use it. doomed: no backup needs it,
  -- none may use it, and it is removed after a while.
  state text not null check (state in ('writing', 'kept', 'lost', 'doomed')),
  bytes bigint,
  state_since timestamptz not null default now()
);
create index packs_state on packs (state, state_since);

create table pieces (
  company_id uuid not null,
  -- A keyed hash of the content.
  name bytea not null,
  pack_id uuid not null references packs on delete cascade,
  start integer not null,
  length integer not null,
  -- Two concurrent backups may both store it.
  primary key (company_id, name, pack_id)
);
create index pieces_pack on pieces (pack_id);

-- Earlier backups have another format, which is no longer supported.
delete from backups;
drop index backups_environment;
alter table backups drop column archive;
-- Names of the pieces that contain its list of files. Null until everything is in the archives.
alter table backups add column manifest bytea;
alter table backups add column files integer;
alter table backups add column added_bytes bigint;
-- The environment's address at the time: `http://demo.localhost:8081`.
alter table backups add column address text not null;
-- When everything that it needs was last found intact.
alter table backups add column verified_at timestamptz;
alter table backups add column expires_at timestamptz not null;
create index backups_environment on backups (environment_id, id desc) where manifest is not null;
create index backups_expires on backups (expires_at);

create table backup_packs (
  backup_id integer not null references backups on delete cascade,
  pack_id uuid not null references packs,
  primary key (backup_id, pack_id)
);
create index backup_packs_pack on backup_packs (pack_id);
