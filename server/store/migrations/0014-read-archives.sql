-- When it was last read back completely, with each piece checked against its name.
alter table packs add column read_at timestamptz;
-- A pack was read back after it was written.
update packs set read_at = state_since where state = 'kept';
create index packs_read on packs (read_at) where state = 'kept';

-- Its missing or damaged parts in the archives, in a sentence. Null if none are known.
alter table backups add column damage text;
-- When to check again which of its parts were in lost packs. Null if there is no need.
alter table backups add column examine_at timestamptz;
create index backups_examine on backups (examine_at) where examine_at is not null;

-- Identifies the archive store, so that another or an empty store is not mistaken for it.
create table archive_store (
  is_only boolean primary key default true check (is_only),
  -- Id of the marker file in the store.
  mark uuid not null default gen_random_uuid(),
  -- Its address without secrets. Null until the store has a marker.
  place text
);
