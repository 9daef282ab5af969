-- When the package source last answered about everything that was due, and what went wrong since.
create table package_source (
  is_only boolean primary key default true check (is_only),
  checked_at timestamptz,
  problem text
);
