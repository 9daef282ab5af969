-- When the whole of it was last read back, each piece held against its name.
alter table packs add column read_at timestamptz;
-- A pack counts when it was read back after it was written.
update packs set read_at = state_since where state = 'kept';
create index packs_read on packs (read_at) where state = 'kept';

-- What it needs of the archives and was found missing or damaged, in a sentence; null: nothing is known of that.
alter table backups add column damage text;
-- When it is looked again what it needs of packs that were lost; null: there is no reason to.
alter table backups add column examine_at timestamptz;
create index backups_examine on backups (examine_at) where examine_at is not null;

-- Where archives are kept, so that another place, or an empty one, is not taken for it.
create table archive_store (
  is_only boolean primary key default true check (is_only),
  -- Names the mark that lies in it.
  mark uuid not null default gen_random_uuid(),
  -- Without secrets; null until there is a mark in it.
  place text
);
