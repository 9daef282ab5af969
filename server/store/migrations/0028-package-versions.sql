-- A new random value for an environment whenever its packages are changed by anyone. Cached packages are valid while it
-- stays the same (`companyPackages.ts`).
create table package_versions (
  environment_id uuid primary key references environments (id) on delete cascade,
  version uuid not null
);

create function note_changed_packages() returns trigger language plpgsql as $$
begin
  insert into package_versions (environment_id, version)
    select environment_id, gen_random_uuid()
    from (select distinct environment_id from changed order by environment_id) c
    -- Those of an environment that is removed go with it.
    where exists (select from environments e where e.id = c.environment_id)
  on conflict (environment_id) do update set version = excluded.version;
  return null;
end $$;

create trigger packages_inserted after insert on packages
  referencing new table as changed for each statement execute function note_changed_packages();
create trigger packages_updated after update on packages
  referencing new table as changed for each statement execute function note_changed_packages();
create trigger packages_deleted after delete on packages
  referencing old table as changed for each statement execute function note_changed_packages();

insert into package_versions (environment_id, version)
  select environment_id, gen_random_uuid() from (select distinct environment_id from packages) p;
