-- The journal of operations: the result of each part, and the process that runs the operation.
alter table operations add column runner uuid;

create table operation_outcomes (
  operation_id text not null references operations (id) on delete cascade,
  part text not null,
  outcome jsonb not null,
  milliseconds integer not null,
  primary key (operation_id, part)
);

-- The journal of earlier versions. Operations that were interrupted by the upgrade continue where they stood.
do $$
begin
  if to_regclass('dbos.operation_outputs') is not null then
    insert into operation_outcomes (operation_id, part, outcome, milliseconds)
      select o.id, d.function_name, d.output::jsonb -> 'json',
        coalesce(d.completed_at_epoch_ms - d.started_at_epoch_ms, 0)
      from operations o
        join dbos.operation_outputs d on d.workflow_uuid = o.id
      where o.state = 'running' and d.output::jsonb -> 'json' <> '"ended"'
      on conflict do nothing;
    drop schema dbos cascade;
  end if;
end
$$;
