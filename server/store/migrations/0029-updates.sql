-- How many environments of a rollout are updated before the others: where one is skipped, or is not there any more, another takes
-- its place.
alter table rollouts add column canaries integer check (canaries >= 0);
update rollouts r set canaries = (select count(*) from rollout_items i where i.rollout_id = r.id and i.is_canary);
alter table rollouts alter column canaries set not null;

-- When the last update of it failed for a reason that says nothing of the version, and how many were to be updated together then: it is
-- tried again soon. What is in the columns `failed_…` are versions that were refused.
alter table packages add column hindered_at timestamptz, add column hindered_among integer;

-- What the failure of an operation says of what was to be done (server/operations/operation.ts); null: nothing.
alter table operations add column failure_kind text check (failure_kind in ('refused', 'superseded'));
