-- How many visitors' requests an environment's PHP answers at once, and how many MB each may take.
alter table environments add column php_threads integer not null default 2 check (php_threads > 0);
alter table environments add column php_memory_mb integer not null default 256 check (php_memory_mb > 0);
-- How long PHP may take for one request, and how much room it may fill; null: as the installation has it.
alter table environments add column request_seconds integer check (request_seconds > 0);
alter table environments add column disk_quota_bytes bigint check (disk_quota_bytes > 0);
-- What was found on the disk, and when; null: never yet.
alter table environments add column disk_bytes bigint;
alter table environments add column disk_measured_at timestamptz;
-- When PHP last changed something of it, as far as the edge has told.
alter table environments add column written_at timestamptz;

-- Who is brought back has what he had.
alter table deleted_environments add column php_threads integer not null default 2;
alter table deleted_environments add column php_memory_mb integer not null default 256;
alter table deleted_environments add column request_seconds integer;
alter table deleted_environments add column disk_quota_bytes bigint;

-- What an environment took, by the hour.
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

-- What the edge had counted when it was last asked: it counts from its start on, and only the difference is added.
create table usage_seen (
  environment_id uuid primary key references environments on delete cascade,
  -- Which start of the edge counted.
  edge_run uuid not null,
  counters jsonb not null,
  -- Of one processor, over the last minutes.
  recent_cores double precision not null,
  seen_at timestamptz not null default now()
);
