-- What backups are made of: pieces of files, together in packs. docs/decisions/backups.md says more.
create table packs (
  id uuid primary key,
  company_id uuid not null references companies,
  -- writing: nobody relies on it yet. lost: it is not there any more, or damaged, and nobody new may rely on it.
  -- doomed: nobody needs it, nobody may, and it is removed after a while.
  state text not null check (state in ('writing', 'kept', 'lost', 'doomed')),
  bytes bigint,
  state_since timestamptz not null default now()
);
create index packs_state on packs (state, state_since);

create table pieces (
  company_id uuid not null,
  -- A keyed hash of what is in it.
  name bytea not null,
  pack_id uuid not null references packs on delete cascade,
  start integer not null,
  length integer not null,
  -- Two backups that are made at once may both bring it.
  primary key (company_id, name, pack_id)
);
create index pieces_pack on pieces (pack_id);

-- Backups that were made before are of another form, and nothing reads them any more.
delete from backups;
drop index backups_environment;
alter table backups drop column archive;
-- Names of the pieces that its list of files is in; null until everything is in the archives.
alter table backups add column manifest bytea;
alter table backups add column files integer;
alter table backups add column added_bytes bigint;
-- Where the environment was at the time: `http://demo.localhost:8081`.
alter table backups add column address text not null;
-- When what it needs was last found to be there and unharmed.
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
