-- Revoking a key also revokes the keys that were created with it. Null: created by the operator or before this migration.
alter table api_keys add column created_by uuid references api_keys on delete set null;
create index api_keys_created_by on api_keys (created_by) where created_by is not null;
