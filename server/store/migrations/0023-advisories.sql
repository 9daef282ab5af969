-- Known vulnerabilities of plugins and themes from the last reading of the feed. A new reading is stored next to the
-- previous one and then replaces it as a whole.
create table advisory_ranges (
  reading bigint not null,
  advisory_id text not null,
  kind text not null check (kind in ('plugin', 'theme')),
  slug text not null,
  -- Version keys that bound the affected range. Null: no limit.
  from_key text collate "C",
  is_from_included boolean not null,
  to_key text collate "C",
  is_to_included boolean not null,
  -- As in the feed.
  affected text not null,
  patched text,
  title text not null,
  cve text,
  score double precision,
  reference text
);
create index advisory_ranges_by_slug on advisory_ranges (kind, slug);

-- The state of the feed: one row, or none before the first reading.
create table advisory_feed (
  only_one boolean primary key default true check (only_one),
  reading bigint not null default 0,
  -- Identifies the feed's content, to detect changes.
  mark text,
  read_at timestamptz,
  checked_at timestamptz,
  records integer not null default 0,
  -- Number of records that could not be parsed.
  skipped integer not null default 0,
  -- Why the last reading failed. Null if it succeeded.
  problem text
);
