-- Numbers of environments are used again, long after the environment is gone, because each needs a system user of its own and
-- the range of users is limited (runtimes/owner.ts). The default is a function, not an identity, because a number may be used.
do $$
declare
  last bigint;
begin
  select case when is_called then last_value else 0 end from environments_number_seq into last;
  alter table environments alter column number drop identity;
  create sequence environment_numbers as integer maxvalue 99900 cycle;
  if last > 0 then
    perform setval('environment_numbers', (last - 1) % 99900 + 1);
  end if;
end $$;

-- The next number that neither an environment nor an unfinished operation has: operations create environments without a row,
-- and finish only when the files are gone. The sequence never gives two transactions the same number.
create function next_environment_number() returns integer language plpgsql as $$
declare
  candidate integer;
begin
  for attempt in 1..99900 loop
    candidate := nextval('environment_numbers');
    if not exists (select from environments where number = candidate)
      and not exists (
        select from operations
        where state in ('waiting', 'running')
          and jsonb_path_exists(input, '$.**.number ? (@ == $number)', jsonb_build_object('number', candidate))
      )
    then
      return candidate;
    end if;
  end loop;
  raise exception 'All 99900 numbers of environments are used. Delete environments.';
end $$;
alter table environments alter column number set default next_environment_number();

-- Beyond the range there are no users.
update environments set number = next_environment_number() where number > 99900;
