-- Control processes and event streams look keys up again when a key, or the user that it belongs to, changes. They are told in which
-- company, and only if something has changed.
drop trigger api_keys_changed on api_keys;
drop trigger users_changed on users;
drop trigger site_labels_changed on site_labels;
drop trigger companies_changed on companies;

create or replace function notify_of_key_change() returns trigger language plpgsql as $$
declare
  company uuid;
begin
  if tg_op = 'DELETE' then company := old.company_id; else company := new.company_id; end if;
  -- PostgreSQL sends equal notifications of a transaction once.
  perform pg_notify('keys_changed', company::text);
  return null;
end $$;

create trigger api_keys_deleted after delete on api_keys for each row execute function notify_of_key_change();
create trigger api_keys_changed after update of secret_hash, scopes, expires_at, revoked_at, allowed_addresses on api_keys
  for each row
  when ((old.secret_hash, old.scopes, old.expires_at, old.revoked_at, old.allowed_addresses)
    is distinct from (new.secret_hash, new.scopes, new.expires_at, new.revoked_at, new.allowed_addresses))
  execute function notify_of_key_change();

create trigger users_deleted after delete on users for each row execute function notify_of_key_change();
create trigger users_changed
  after update of role, full_name, first_name, must_change_password, site_ids, label_ids, second_factor_since, is_operator
  on users for each row
  when ((old.role, old.full_name, old.first_name, old.must_change_password, old.site_ids, old.label_ids,
      old.second_factor_since, old.is_operator)
    is distinct from (new.role, new.full_name, new.first_name, new.must_change_password, new.site_ids, new.label_ids,
      new.second_factor_since, new.is_operator))
  execute function notify_of_key_change();

create trigger site_labels_changed after insert or delete on site_labels
  for each row execute function notify_of_key_change();

-- A rule of the company is part of what its users may do.
create function notify_of_company_rule() returns trigger language plpgsql as $$
begin
  perform pg_notify('keys_changed', new.id::text);
  return null;
end $$;
create trigger companies_changed after update of requires_second_factor on companies
  for each row when (old.requires_second_factor <> new.requires_second_factor) execute function notify_of_company_rule();
