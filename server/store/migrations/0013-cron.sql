-- The last run of an environment's WP-Cron events.
create table cron_runs (
  environment_id uuid primary key references environments on delete cascade,
  began_at timestamptz not null,
  -- Null while it is running, and if it was killed with its process.
  ended_at timestamptz,
  -- Its errors, in sentences. While it is running: those of the previous run.
  error text,
  -- Number of consecutive failed runs. Each one delays the next run further.
  failures integer not null default 0
);
