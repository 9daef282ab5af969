-- Automatic updates of environments. No row: none.
create table automatic_updates (
  environment_id uuid primary key references environments (id) on delete cascade,
  plugins boolean not null,
  themes boolean not null,
  -- Vulnerable packages are updated within this many hours. Null: not for that reason.
  vulnerable_within_hours integer check (vulnerable_within_hours > 0),
  -- Slugs that are excluded.
  except_names text[] not null,
  -- The update window: weekdays from 0 (Sunday), start in minutes after midnight, and length in hours.
  days integer[] not null,
  start_minute integer not null check (start_minute between 0 and 1439),
  hours integer not null check (hours between 1 and 24),
  time_zone text not null
);

alter table packages
  -- Whether this installation updates it automatically, as its environment is configured.
  add column is_managed boolean not null default false,
  -- Since when one of its installed versions has been known to be vulnerable.
  add column vulnerable_since timestamptz,
  -- The version that failed to install last, when, and how many packages were to be updated together.
  add column failed_version text,
  add column failed_at timestamptz,
  add column failed_among integer;
update packages set vulnerable_since = now() where is_vulnerable;
