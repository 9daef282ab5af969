-- Control processes keep keys in memory for a moment. They are told when a key, or the user that it belongs to, changes.
create function notify_of_key_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('keys_changed', '');
  return null;
end $$;

create trigger api_keys_changed after delete or update of secret_hash, scopes, expires_at, revoked_at, allowed_addresses
  on api_keys for each statement execute function notify_of_key_change();
create trigger users_changed after delete or update of role, full_name, first_name
  on users for each statement execute function notify_of_key_change();
