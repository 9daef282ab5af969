-- Lists of a company are sent page by page, so they have no hash of their text. Instead, each transaction that changes what the
-- lists of sites or of domains show adds a mark here. The set of marks is the version of these lists (`listVersions.ts`): an
-- earlier set never comes back, even if a change is undone, and readers never wait for writers, nor writers for each other.
create table list_changes (
  company_id uuid not null references companies on delete cascade,
  mark uuid not null default gen_random_uuid(),
  primary key (company_id, mark)
);
insert into list_changes (company_id) select id from companies;

create function note_list_change(company uuid) returns void language plpgsql as $$
begin
  -- One mark for each transaction. The setting ends with the transaction, and with a savepoint that is rolled back.
  if current_setting('sitewright.changed_lists', true) is not distinct from company::text then return; end if;
  -- Nothing for a company that is being deleted.
  insert into list_changes (company_id) select id from companies where id = company;
  perform set_config('sitewright.changed_lists', company::text, true);
end $$;

create function note_changed_row() returns trigger language plpgsql as $$
begin
  perform note_list_change((case when tg_op = 'DELETE' then old.company_id else new.company_id end));
  return null;
end $$;

create function note_changed_lock() returns trigger language plpgsql as $$
begin
  perform note_list_change(e.company_id) from environments e
    where e.id = (case when tg_op = 'DELETE' then old.environment_id else new.environment_id end);
  return null;
end $$;

create trigger sites_listed after insert or delete on sites for each row execute function note_changed_row();
create trigger sites_shown after update on sites for each row
  when ((old.name, old.display_name, old.state) is distinct from (new.name, new.display_name, new.state))
  execute function note_changed_row();

create trigger environments_listed after insert or delete on environments for each row execute function note_changed_row();
create trigger environments_shown after update on environments for each row
  when ((old.name, old.display_name, old.is_premium, old.state, old.awaits_rebuild, old.is_opt_out_from_automatic_php_update,
      old.wordpress_version, old.php_version, old.container_id, old.number)
    is distinct from (new.name, new.display_name, new.is_premium, new.state, new.awaits_rebuild,
      new.is_opt_out_from_automatic_php_update, new.wordpress_version, new.php_version, new.container_id, new.number))
  execute function note_changed_row();

create trigger domains_listed after insert or delete on domains for each row execute function note_changed_row();
create trigger domains_shown after update on domains for each row
  when ((old.name, old.is_active, old.is_primary, old.environment_id)
    is distinct from (new.name, new.is_active, new.is_primary, new.environment_id))
  execute function note_changed_row();

create trigger environment_locks_listed after insert or delete on environment_locks
  for each row execute function note_changed_lock();

-- In the order of the lists, so that a page begins where the previous one ended.
drop index sites_company;
create index sites_company on sites (company_id, created_at, id);
drop index domains_company;
create index domains_company on domains (company_id, created_at, length(name), id);
create index environments_adding on environments (company_id) where state = 'adding';
