-- Tells the key that backups are sealed with from any other, without giving it away. Null until that was found out, as it is
-- where backups were kept before it was remembered.
alter table archive_store add column key_check bytea;
