-- A rollout of one plugin or theme to many environments: canaries first, then the others, a few at a time.
create table rollouts (
  id uuid primary key,
  company_id uuid not null references companies (id) on delete cascade,
  kind text not null check (kind in ('plugin', 'theme')),
  -- Slug.
  name text not null,
  -- Null: the newest version that each environment can install.
  version text,
  concurrency integer not null check (concurrency > 0),
  stop_after_failures integer not null check (stop_after_failures > 0),
  state text not null default 'running' check (state in ('running', 'stopped', 'cancelled', 'ended')),
  -- The actor, as in the activity log.
  actor jsonb not null,
  created_at timestamptz not null default now(),
  -- When its last update ended.
  ended_at timestamptz
);
create index rollouts_of_company on rollouts (company_id, created_at desc);
create index rollouts_under_way on rollouts (created_at) where ended_at is null;

create table rollout_items (
  rollout_id uuid not null references rollouts (id) on delete cascade,
  environment_id uuid not null references environments (id) on delete cascade,
  position integer not null,
  is_canary boolean not null,
  state text not null default 'waiting' check (state in ('waiting', 'running', 'updated', 'failed', 'skipped')),
  operation_id text,
  -- The versions before and after the update.
  from_version text,
  to_version text,
  -- Why it failed, or was skipped.
  reason text,
  ended_at timestamptz,
  primary key (rollout_id, environment_id)
);
create index rollout_items_of_environment on rollout_items (environment_id);
