-- Known vulnerabilities of plugins and themes, of the feed that was read last. A reading is written beside the one before and
-- takes its place as a whole.
create table advisory_ranges (
  reading bigint not null,
  advisory_id text not null,
  kind text not null check (kind in ('plugin', 'theme')),
  slug text not null,
  -- Keys of versions, between which they are affected; null: no limit.
  from_key text collate "C",
  is_from_included boolean not null,
  to_key text collate "C",
  is_to_included boolean not null,
  -- As the feed has them.
  affected text not null,
  patched text,
  title text not null,
  cve text,
  score double precision,
  reference text
);
create index advisory_ranges_by_slug on advisory_ranges (kind, slug);

-- One row, or none before the first look: what is known of the feed.
create table advisory_feed (
  only_one boolean primary key default true check (only_one),
  reading bigint not null default 0,
  -- By which it is known whether it is another one than before.
  mark text,
  read_at timestamptz,
  checked_at timestamptz,
  records integer not null default 0,
  -- Records that were not understood.
  skipped integer not null default 0,
  -- Why it could not be read the last time; null: it could.
  problem text
);
