-- The last time that the events were run which an environment's WordPress had planned.
create table cron_runs (
  environment_id uuid primary key references environments on delete cascade,
  began_at timestamptz not null,
  -- Null while it is under way, and where this was killed with the process.
  ended_at timestamptz,
  -- What went wrong, in sentences; of the run before while one is under way.
  error text,
  -- How many runs in a row could not be ended; each makes the next one wait longer.
  failures integer not null default 0
);
