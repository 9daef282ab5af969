-- What has happened in a company, for clients that follow it. Triggers add an event in the transaction of the change, whichever code
-- makes it, so none is lost and none is invented.
--
-- Transactions do not become visible in the order in which they add their events. So events get their numbers later, by which clients
-- continue: number_events() gives them to events that are visible, by one process at a time. An event that becomes visible later gets
-- a higher number, and writers never wait for each other.
create table events (
  id bigint generated always as identity primary key,
  company_id uuid not null,
  number bigint unique,
  type text not null,
  -- Null: it concerns no site.
  site_id uuid,
  -- As the API sends it.
  data jsonb not null,
  created_at timestamptz not null default now()
);
create index events_company on events (company_id, number) where number is not null;
create index events_unnumbered on events (id) where number is null;
create index events_created on events (created_at);

-- last: the newest number. removed: the newest number of an event that is no longer kept.
-- Numbers begin with the time, so that an installation that was restored from a backup does not use a number again.
create table event_numbers (
  is_only boolean primary key default true check (is_only),
  last bigint not null,
  removed bigint not null
);
insert into event_numbers (last, removed)
  select start, start from (select (extract(epoch from now()) * 1000)::bigint as start) now;

-- Numbers at most `most` events. Returns the newest number, and how many events were numbered.
create function number_events(most integer, out last bigint, out numbered integer) language plpgsql as $$
declare
  before bigint;
begin
  select n.last into before from event_numbers n for update;
  with chosen as (
    select id, row_number() over (order by id) as place
    from (select id from events where number is null order by id limit most) unnumbered
  )
  update events e set number = before + c.place from chosen c where e.id = c.id;
  get diagnostics numbered = row_count;
  last := before + numbered;
  if numbered > 0 then update event_numbers n set last = before + numbered; end if;
end $$;

create function add_event(company uuid, type text, site uuid, data jsonb) returns void language plpgsql as $$
begin
  insert into events (company_id, type, site_id, data) values (company, type, site, data);
  perform pg_notify('event_added', '');
end $$;

create function api_time(moment timestamptz) returns text language sql stable parallel safe
  return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- One `started` and one end for each operation. Everything in between is progress: a step, or waiting for other operations.
create function note_operation_event() returns trigger language plpgsql as $$
begin
  perform add_event(
    new.company_id,
    'operation.' || case
      when tg_op = 'INSERT' then 'started'
      when new.state in ('succeeded', 'failed') then new.state
      else 'progress'
    end,
    new.site_id,
    jsonb_build_object(
      'operation_id', new.id, 'state', new.state, 'kind', new.kind,
      'step', new.step, 'steps_done', new.steps_done, 'steps_total', new.steps_total,
      'created_at', api_time(new.created_at), 'started_at', api_time(new.started_at),
      'finished_at', api_time(new.finished_at), 'message', new.public_error
    ) || jsonb_strip_nulls(jsonb_build_object('idSite', new.site_id, 'idEnv', new.environment_id)));
  return null;
end $$;
create trigger operations_started after insert on operations for each row execute function note_operation_event();
create trigger operations_continued after update on operations for each row
  when ((old.state, old.step, old.steps_done) is distinct from (new.state, new.step, new.steps_done))
  execute function note_operation_event();

-- A site exists for others when it is no longer being added.
create function note_site_event() returns trigger language plpgsql as $$
declare
  site sites := coalesce(new, old);
begin
  perform add_event(site.company_id, 'site.' || case when tg_op = 'DELETE' then 'deleted' else 'created' end, site.id,
    jsonb_build_object('site_id', site.id, 'name', site.name, 'display_name', site.display_name));
  return null;
end $$;
create trigger sites_created after update on sites for each row
  when (old.state = 'adding' and new.state <> 'adding') execute function note_site_event();
create trigger sites_deleted after delete on sites for each row
  when (old.state <> 'adding') execute function note_site_event();

create function note_environment_event() returns trigger language plpgsql as $$
declare
  environment environments := coalesce(new, old);
begin
  perform add_event(
    environment.company_id,
    'environment.' || case when tg_op = 'DELETE' then 'deleted' when old.state = 'adding' then 'created' else 'changed' end,
    environment.site_id,
    jsonb_build_object('environment_id', environment.id, 'site_id', environment.site_id, 'name', environment.name,
      'display_name', environment.display_name));
  return null;
end $$;
create trigger environments_created after update on environments for each row
  when (old.state = 'adding' and new.state <> 'adding') execute function note_environment_event();
create trigger environments_deleted after delete on environments for each row
  when (old.state <> 'adding') execute function note_environment_event();
create trigger environments_changed after update on environments for each row
  when (old.state <> 'adding' and (old.state, old.display_name, old.is_premium, old.php_version, old.wordpress_version,
      old.is_opt_out_from_automatic_php_update, old.awaits_rebuild, old.denied_ips, old.mail_delivery, old.php_threads,
      old.php_memory_mb, old.request_seconds, old.disk_quota_bytes, old.force_https, old.redirect_list, old.edge_caching,
      old.update_checks, old.picture_threshold, old.is_xml_rpc_on, old.runtime, old.packages_problem)
    is distinct from (new.state, new.display_name, new.is_premium, new.php_version, new.wordpress_version,
      new.is_opt_out_from_automatic_php_update, new.awaits_rebuild, new.denied_ips, new.mail_delivery, new.php_threads,
      new.php_memory_mb, new.request_seconds, new.disk_quota_bytes, new.force_https, new.redirect_list, new.edge_caching,
      new.update_checks, new.picture_threshold, new.is_xml_rpc_on, new.runtime, new.packages_problem))
  execute function note_environment_event();

-- The type of the event is the trigger's argument.
create function note_domain_event() returns trigger language plpgsql as $$
declare
  domain domains := coalesce(new, old);
begin
  perform add_event(domain.company_id, tg_argv[0], domain.site_id,
    jsonb_build_object('domain_id', domain.id, 'environment_id', domain.environment_id, 'site_id', domain.site_id,
      'name', domain.name));
  return null;
end $$;
create trigger domains_event_added after insert on domains for each row
  when (new.setup_type <> 'temporary') execute function note_domain_event('domain.added');
create trigger domains_event_verified after update on domains for each row
  when (new.setup_type <> 'temporary' and old.verified_at is null and new.verified_at is not null)
  execute function note_domain_event('domain.verified');
create trigger domains_event_changed after update on domains for each row
  when (new.setup_type <> 'temporary'
    and (old.is_active, old.is_primary, old.is_https, old.points_here_at is null, old.environment_id)
      is distinct from (new.is_active, new.is_primary, new.is_https, new.points_here_at is null, new.environment_id))
  execute function note_domain_event('domain.changed');
create trigger domains_event_deleted after delete on domains for each row
  when (old.setup_type <> 'temporary') execute function note_domain_event('domain.deleted');

-- A backup exists when it is complete, and is verified when it has been restored on trial.
create function note_backup_event() returns trigger language plpgsql as $$
declare
  backup backups := coalesce(new, old);
begin
  perform add_event(backup.company_id, tg_argv[0], backup.site_id,
    jsonb_build_object('backup_id', backup.id, 'environment_id', backup.environment_id, 'site_id', backup.site_id,
      'name', backup.name, 'type', backup.type));
  return null;
end $$;
create trigger backups_created after update on backups for each row
  when (old.manifest is null and new.manifest is not null) execute function note_backup_event('backup.created');
create trigger backups_verified after update on backups for each row
  when (new.last_proven_restore is not null and old.last_proven_restore is distinct from new.last_proven_restore)
  execute function note_backup_event('backup.verified');
create trigger backups_damaged after update on backups for each row
  when (old.damage is null and new.damage is not null) execute function note_backup_event('backup.damaged');
create trigger backups_deleted after delete on backups for each row
  when (old.manifest is not null) execute function note_backup_event('backup.deleted');

create function note_vulnerability_event() returns trigger language plpgsql as $$
begin
  perform add_event(new.company_id, 'vulnerability.found', new.site_id,
    jsonb_build_object('environment_id', new.environment_id, 'site_id', new.site_id, 'kind', new.kind, 'name', new.name,
      'title', new.title, 'version', new.version));
  return null;
end $$;
create trigger packages_found_vulnerable after update on packages for each row
  when (new.is_vulnerable and not old.is_vulnerable) execute function note_vulnerability_event();

create function note_activity_event() returns trigger language plpgsql as $$
begin
  perform add_event(new.company_id, 'activity.recorded', new.site_id,
    jsonb_build_object('id', new.id, 'site_id', new.site_id, 'category', new.category, 'type', new.type));
  return null;
end $$;
create trigger activity_recorded after insert on activity for each row
  when (new.company_id is not null) execute function note_activity_event();
