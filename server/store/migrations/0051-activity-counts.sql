-- Exact numbers of entries of the activity log, so that lists and their totals need not read all of it.
--
-- Writers only append to activity_changes, by triggers, so that they never wait for each other. Control moves the changes into
-- the two other tables every few seconds. A number is what those have, plus what activity_changes has. The columns that are
-- counted never change, because the hash chain covers them.

-- Ids are counted in blocks of 32,768, so that deep pages can begin at a block.
create function activity_block(id bigint) returns bigint language sql immutable parallel safe return id >> 15;

-- Identifies entries that agree in all columns that lists are filtered by.
create function activity_combination(site_id uuid, category text, user_id uuid, api_key_id uuid) returns uuid
  language sql immutable parallel safe
  return md5(coalesce(site_id::text, '') || ',' || coalesce(user_id::text, '') || ',' || coalesce(api_key_id::text, '')
    || ',' || category)::uuid;

create table activity_changes (
  company_id uuid not null,
  block bigint not null,
  site_id uuid,
  category text not null,
  user_id uuid,
  api_key_id uuid,
  -- Negative: deleted ones.
  entries integer not null
);
create index activity_changes_company on activity_changes (company_id);

-- For each company, and each category, site, user and key that occurs in its log.
create table activity_counts (
  company_id uuid not null,
  list text not null check (list in ('all', 'category', 'site', 'user', 'key')),
  -- Empty if the list is that of all entries.
  value text collate "C" not null,
  block bigint not null,
  entries bigint not null check (entries >= 0),
  primary key (company_id, list, value, block)
);

create table activity_combinations (
  company_id uuid not null,
  combination uuid not null,
  site_id uuid,
  category text not null,
  user_id uuid,
  api_key_id uuid,
  entries bigint not null check (entries >= 0),
  -- All its entries are in these blocks and those in between, which need not have any.
  first_block bigint not null,
  last_block bigint not null,
  primary key (company_id, combination)
);
create index activity_combinations_site on activity_combinations (company_id, site_id);
create index activity_combinations_user on activity_combinations (company_id, user_id, category);
create index activity_combinations_key on activity_combinations (company_id, api_key_id, category);

create index activity_combination
  on activity (company_id, activity_combination(site_id, category, user_id, api_key_id), id desc);

insert into activity_counts (company_id, list, value, block, entries)
select company_id, list, value, activity_block(id), count(*)
from activity, lateral (values
  ('all', ''), ('category', category), ('site', site_id::text), ('user', user_id::text), ('key', api_key_id::text)
) lists (list, value)
where company_id is not null and value is not null
group by 1, 2, 3, 4;

insert into activity_combinations
select company_id, activity_combination(site_id, category, user_id, api_key_id), site_id, category, user_id, api_key_id,
  count(*), min(activity_block(id)), max(activity_block(id))
from activity where company_id is not null
group by company_id, site_id, category, user_id, api_key_id;

create function note_activity_changes() returns trigger language plpgsql as $$
begin
  insert into activity_changes
  select company_id, activity_block(id), site_id, category, user_id, api_key_id,
    case tg_op when 'INSERT' then count(*) else -count(*) end
  from changed where company_id is not null
  group by 1, 2, 3, 4, 5, 6;
  return null;
end $$;

create trigger activity_inserted after insert on activity referencing new table as changed
  for each statement execute function note_activity_changes();
create trigger activity_deleted after delete on activity referencing old table as changed
  for each statement execute function note_activity_changes();
