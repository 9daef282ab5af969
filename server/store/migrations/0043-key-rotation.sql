-- The key that replaces this one. It is revoked with it, unless asked otherwise.
alter table api_keys add column replaced_by uuid references api_keys on delete set null;
