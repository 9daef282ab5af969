-- Newer versions that an environment gets by itself. No row: none.
create table automatic_updates (
  environment_id uuid primary key references environments (id) on delete cascade,
  plugins boolean not null,
  themes boolean not null,
  -- What is known to be vulnerable is updated within so many hours; null: not for that reason.
  vulnerable_within_hours integer check (vulnerable_within_hours > 0),
  -- Slugs that are left alone.
  except_names text[] not null,
  -- Days of the week on which the window opens, from 0, Sunday, on; when, in minutes after midnight; and for how long.
  days integer[] not null,
  start_minute integer not null check (start_minute between 0 and 1439),
  hours integer not null check (hours between 1 and 24),
  time_zone text not null
);

alter table packages
  -- It is updated by us, as its environment wants it.
  add column is_managed boolean not null default false,
  -- Since when it is known to be vulnerable, in whichever version.
  add column vulnerable_since timestamptz,
  -- The version that it could not be updated to last; when that was; and how many were to be updated together.
  add column failed_version text,
  add column failed_at timestamptz,
  add column failed_among integer;
update packages set vulnerable_since = now() where is_vulnerable;
