-- Number of environments that a rollout updates first. If one is skipped or no longer exists, another takes its place.
alter table rollouts add column canaries integer check (canaries >= 0);
update rollouts r set canaries = (select count(*) from rollout_items i where i.rollout_id = r.id and i.is_canary);
alter table rollouts alter column canaries set not null;

-- When its last update failed for a reason unrelated to the version, and how many packages were to be updated together.
-- It is retried soon. The `failed_…` columns are for versions that were rejected.
alter table packages add column hindered_at timestamptz, add column hindered_among integer;

-- The kind of an operation's failure (server/operations/engine/operation.ts). Null: other.
alter table operations add column failure_kind text check (failure_kind in ('refused', 'superseded'));
