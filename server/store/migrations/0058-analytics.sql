-- Counts of requests to environments. The edge reports each minute when it is over. It is stored once, and its counts are then
-- added to those of its hour and its day (UTC). The names of counts are those of the edge.
create table analytics_minutes (
  environment_id uuid not null references environments on delete cascade,
  minute timestamptz not null,
  -- The start of the edge that counted: another one may have counted the rest of the minute.
  edge_run uuid not null,
  counts jsonb not null,
  primary key (environment_id, minute, edge_run)
);
create index analytics_minutes_minute on analytics_minutes (minute);

create table analytics_hours (
  environment_id uuid not null references environments on delete cascade,
  hour timestamptz not null,
  counts jsonb not null,
  primary key (environment_id, hour)
);
create index analytics_hours_hour on analytics_hours (hour);

create table analytics_days (
  environment_id uuid not null references environments on delete cascade,
  day timestamptz not null,
  counts jsonb not null,
  primary key (environment_id, day)
);
create index analytics_days_day on analytics_days (day);

-- When the edge counted, if only for a moment. An environment without counts had no requests then; at other times nobody knows.
create table analytics_measured (
  step text not null check (step in ('minute', 'hour', 'day')),
  begins timestamptz not null,
  primary key (step, begins)
);

-- Disk use of environments: the last measurement of each hour that had one. It is measured only after changes.
create table analytics_disk (
  environment_id uuid not null references environments on delete cascade,
  hour timestamptz not null,
  disk_bytes bigint not null,
  primary key (environment_id, hour)
);
insert into analytics_disk
  select id, date_trunc('hour', disk_measured_at, 'UTC'), disk_bytes from environments
  where disk_bytes is not null and disk_measured_at is not null;

create function note_disk_use() returns trigger language plpgsql as $$
begin
  insert into analytics_disk values (new.id, date_trunc('hour', new.disk_measured_at, 'UTC'), new.disk_bytes)
    on conflict (environment_id, hour) do update set disk_bytes = excluded.disk_bytes;
  return null;
end $$;
create trigger environments_measured after update of disk_measured_at on environments for each row
  when (new.disk_measured_at is not null and new.disk_bytes is not null)
  execute function note_disk_use();

-- The sums of the counts of both.
create function add_counts(one jsonb, other jsonb) returns jsonb language sql immutable parallel safe as $$
  select coalesce(jsonb_object_agg(name, total), '{}') from (
    select name, sum(value::bigint) as total
    from (select * from jsonb_each_text(one) union all select * from jsonb_each_text(other)) as each (name, value)
    group by name) as sums
$$;
