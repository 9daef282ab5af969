-- Number of PHP threads (concurrent requests), and MB of memory for each.
alter table environments add column php_threads integer not null default 2 check (php_threads > 0);
alter table environments add column php_memory_mb integer not null default 256 check (php_memory_mb > 0);
-- Time limit of a request, and disk quota. Null: the installation's default.
alter table environments add column request_seconds integer check (request_seconds > 0);
alter table environments add column disk_quota_bytes bigint check (disk_quota_bytes > 0);
-- Measured disk use, and when it was measured. Null if it never was.
alter table environments add column disk_bytes bigint;
alter table environments add column disk_measured_at timestamptz;
-- When PHP last changed something in it, as reported by the edge.
alter table environments add column written_at timestamptz;

-- A restored environment has its former limits.
alter table deleted_environments add column php_threads integer not null default 2;
alter table deleted_environments add column php_memory_mb integer not null default 256;
alter table deleted_environments add column request_seconds integer;
alter table deleted_environments add column disk_quota_bytes bigint;

-- Usage of environments by hour.
create table usage_hours (
  environment_id uuid not null references environments on delete cascade,
  hour timestamptz not null,
  php_requests bigint not null,
  php_milliseconds bigint not null,
  cpu_milliseconds bigint not null,
  killed_for_time bigint not null,
  killed_for_memory bigint not null,
  refused_busy bigint not null,
  bytes_sent bigint not null,
  primary key (environment_id, hour)
);
create index usage_hours_hour on usage_hours (hour);

-- The edge's counters when they were last read. They start at 0 with the edge, and only differences are added to the
-- usage.
create table usage_seen (
  environment_id uuid primary key references environments on delete cascade,
  -- The start of the edge that the counters belong to.
  edge_run uuid not null,
  counters jsonb not null,
  -- CPU cores in use, averaged over the last minutes.
  recent_cores double precision not null,
  seen_at timestamptz not null default now()
);
